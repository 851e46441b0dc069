import { createRedactor } from '../../../platform/log/redact';
import type { AgentDispatch, AgentOutcome, AgentSink, LiveAgent } from '../provider';
import { createCaptureFile } from '../capture-file';
import { Ender } from './ender';
import { EventBatcher } from './event-batcher';
import { launchLocal, type LaunchedAgent } from './launch-local';
import { OutputRecorder } from './output-recorder';

/** What one protocol makes of a running agent: everything else about its process is the same for all of them. */
export interface Conversation {
  /** How the agent is spoken to while it runs. */
  live: LiveAgent;
  /**
   * Gives the agent its task and records what it says, until it has nothing more to say. `writersGone` is aborted when
   * nothing is left that could write to its pipes.
   */
  hold(writersGone: AbortSignal): Promise<Pick<AgentOutcome, 'judgedBy' | 'result' | 'error'>>;
}

/** What a conversation is held with. */
export interface Channel {
  /** Whom the agent's questions go to. */
  sink: AgentSink;
  launched: LaunchedAgent;
  recorder: OutputRecorder;
  ender: Ender;
}

const noOutput = { bytes: 0, persistedBytes: 0, truncated: false };

/** An agent that was never there. */
const withoutProcess = (ended: 'spawn-failed' | 'stopped', error?: string): AgentOutcome => ({
  ended,
  judgedBy: 'exit',
  exitCode: null,
  signal: null,
  ...(error === undefined ? {} : { error }),
  output: noOutput,
  durationMs: 0,
});

/** A function, because it may change between two questions. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/**
 * Runs one agent that is a process of this host to its end: see `AgentProvider.run`.
 *
 * @param source the environment of this process
 * @param converse how the agent is spoken to
 */
export async function runLocal(
  dispatch: AgentDispatch,
  sink: AgentSink,
  signal: AbortSignal,
  source: NodeJS.ProcessEnv,
  converse: (channel: Channel) => Conversation,
): Promise<AgentOutcome> {
  if (isAborted(signal)) return withoutProcess('stopped');
  const startedAt = performance.now();
  const launched = await launchLocal(dispatch, source);
  if ('problem' in launched) return withoutProcess('spawn-failed', launched.problem);

  const ender = new Ender(dispatch, launched.agent);
  const stop = (): void => ender.end('stopped');
  signal.addEventListener('abort', stop, { once: true });
  // An abort during the launch came before anyone listened.
  if (isAborted(signal)) stop();
  const timer = setTimeout(() => ender.end('timeout'), dispatch.timeoutMs);

  const writersGone = new AbortController();
  const finished = ender.finished().finally(() => writersGone.abort());
  const recording = record(launched, dispatch, sink, ender, converse, writersGone.signal);
  try {
    const [exited, recorded] = await Promise.allSettled([finished, recording]);
    if (recorded.status === 'rejected') throw recorded.reason;
    if (exited.status === 'rejected') throw exited.reason;
    return {
      ...exited.value,
      ...recorded.value,
      ended: ender.reason === 'stopped' || ender.reason === 'timeout' ? ender.reason : 'exit',
      durationMs: Math.round(performance.now() - startedAt),
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await launched.transport.remove();
  }
}

/** Holds the conversation and gives the agent's output to the sink; a failing sink ends the agent. */
async function record(
  launched: LaunchedAgent,
  { attemptId, worktreePath, outputLimitBytes }: AgentDispatch,
  sink: AgentSink,
  ender: Ender,
  converse: (channel: Channel) => Conversation,
  writersGone: AbortSignal,
): Promise<Pick<AgentOutcome, 'output' | 'judgedBy' | 'result' | 'error'>> {
  const { agent, secrets } = launched;
  const batcher = new EventBatcher(
    async (events) => sink.append(events),
    () => ender.end('sink-failed'),
  );
  const recorder = new OutputRecorder({
    attemptId,
    limitBytes: outputLimitBytes,
    redact: createRedactor(secrets),
    captureFile: createCaptureFile(worktreePath, secrets),
    emit: (event) => batcher.add(event),
  });
  const conversation = converse({ launched, recorder, ender, sink });
  try {
    await sink.started(agent.identity, conversation.live);
    const said = await conversation.hold(writersGone);
    await batcher.close();
    return { output: recorder.totals, ...said };
  } catch (error) {
    ender.end('sink-failed');
    agent.stdout.destroy();
    agent.stderr.destroy();
    throw error;
  }
}
