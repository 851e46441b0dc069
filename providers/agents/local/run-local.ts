import { createRedactor } from '../../../platform/log/redact';
import {
  AgentLeftError,
  leaveRunning,
  type AgentDispatch,
  type AgentOutcome,
  type AgentSink,
  type FoundAgent,
  type LiveAgent,
  type ReattachRefusal,
} from '../provider';
import { createCaptureFile } from '../capture-file';
import type { AgentHost } from './agent-environment';
import { Ender } from './ender';
import { EventBatcher } from './event-batcher';
import { launchLocal, takeUpLocal, type LaunchedAgent } from './launch-local';
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

const noOutput = { bytes: 0, persistedBytes: 0, truncated: false, refusedLines: 0 };

/** An agent that was never there. */
const withoutProcess = (ended: 'spawn-failed' | 'stopped', error?: string): AgentOutcome => ({
  ended,
  judgedBy: 'exit',
  exitCode: null,
  signal: null,
  ...(error === undefined ? {} : { error }),
  output: noOutput,
  lastWords: '',
  durationMs: 0,
});

/** A function, because it may change between two questions. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/**
 * Runs one agent that is a process of this host to its end: see `AgentProvider.run`.
 *
 * @param host where it is started
 * @param converse how the agent is spoken to
 */
export async function runLocal(
  dispatch: AgentDispatch,
  sink: AgentSink,
  signal: AbortSignal,
  host: AgentHost,
  converse: (channel: Channel) => Conversation,
): Promise<AgentOutcome> {
  if (isAborted(signal)) return withoutProcess('stopped');
  const writersGone = new AbortController();
  const launched = await launchLocal(dispatch, host, writersGone.signal);
  if ('problem' in launched) return withoutProcess('spawn-failed', launched.problem);
  return follow({ dispatch, sink, signal, launched, ranMs: 0, writersGone, converse });
}

/** Goes on with an agent that another worker has started: see `AgentProvider.reattach`. */
export async function reattachLocal(
  dispatch: AgentDispatch,
  found: FoundAgent,
  sink: AgentSink,
  signal: AbortSignal,
  host: AgentHost,
  converse: (channel: Channel) => Conversation,
): Promise<AgentOutcome | { refused: ReattachRefusal }> {
  const writersGone = new AbortController();
  const launched = await takeUpLocal(dispatch, found, host, writersGone.signal);
  if ('refused' in launched) return launched;
  return follow({ dispatch, sink, signal, launched, ranMs: found.ranMs, writersGone, converse });
}

interface Following {
  dispatch: AgentDispatch;
  sink: AgentSink;
  signal: AbortSignal;
  launched: LaunchedAgent;
  /** How long it has run before, in milliseconds. */
  ranMs: number;
  writersGone: AbortController;
  converse: (channel: Channel) => Conversation;
}

/** Sees a running agent to its end, or leaves it. */
async function follow(following: Following): Promise<AgentOutcome> {
  const { dispatch, signal, launched, ranMs, writersGone } = following;
  const { transport, agent } = launched;
  const startedAt = performance.now() - ranMs;
  const ender = new Ender(dispatch, agent);
  const stop = (): void => {
    if (signal.reason === leaveRunning && agent.hold && ender.reason === undefined) agent.hold.leave();
    else ender.end('stopped');
  };
  signal.addEventListener('abort', stop, { once: true });
  // An abort during the launch came before anyone listened.
  if (isAborted(signal)) stop();
  const timer = setTimeout(() => ender.end('timeout'), Math.max(0, dispatch.timeoutMs - ranMs));

  const finished = ender.finished().finally(() => writersGone.abort());
  const recording = record(following, ender);
  let left = false;
  try {
    const [exited, recorded] = await Promise.allSettled([finished, recording]);
    if (exited.status === 'fulfilled') agent.release();
    left = [exited, recorded].some((each) => each.status === 'rejected' && each.reason instanceof AgentLeftError);
    if (left) throw new AgentLeftError();
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
    agent.hold?.close();
    if (!left) await transport.remove();
  }
}

/** Holds the conversation and gives the agent's output to the sink; a sink that fails ends the agent. */
async function record(
  { dispatch, sink, launched, converse, writersGone }: Following,
  ender: Ender,
): Promise<Pick<AgentOutcome, 'output' | 'lastWords' | 'judgedBy' | 'result' | 'error'>> {
  const { attemptId, worktreePath, worktreeIdentity: identity, outputLimitBytes } = dispatch;
  const { agent, secrets, recorded } = launched;
  const batcher = new EventBatcher(
    async (events) => sink.append(events),
    () => ender.end('sink-failed'),
  );
  const recorder = new OutputRecorder({
    attemptId,
    limitBytes: outputLimitBytes,
    redact: createRedactor(secrets),
    captureFile: createCaptureFile({ worktreePath, identity }, secrets),
    ...(recorded ? { recorded } : {}),
    emit: (event) => batcher.add(event),
  });
  const conversation = converse({ launched, recorder, ender, sink });
  try {
    await sink.started(agent.identity, conversation.live);
    const said = await conversation.hold(writersGone.signal);
    await batcher.close();
    return { output: recorder.totals, lastWords: recorder.lastWords, ...said };
  } catch (error) {
    if (error instanceof AgentLeftError) {
      // What was read is appended; what was not is read by whoever goes on.
      await batcher.close();
      throw error;
    }
    ender.end('sink-failed');
    agent.stdout.destroy();
    agent.stderr.destroy();
    throw error;
  }
}
