import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import type { RunSandbox } from '../../sandbox/run-sandbox';
import { createCaptureFile } from '../capture-file';
import {
  AgentDetachedError,
  type AgentDispatch,
  type AgentOutcome,
  type AgentSink,
  detachReason,
  type LiveAgent,
  type OrphanedAgent,
  type ReattachRefusal,
} from '../provider';
import type { AgentHost } from './agent-environment';
import { EventBatcher } from './event-batcher';
import { adoptLocal, type LaunchedAgent, launchLocal } from './launch-local';
import { openSandbox } from './open-sandbox';
import { OutputRecorder } from './output-recorder';
import { Terminator } from './terminator';

/** What one protocol makes of a running agent: everything else about its process is the same for all of them. */
export interface Conversation {
  /** How the agent is spoken to while it runs. */
  live: LiveAgent;
  /**
   * Sends the agent its task and records its output, until there is no more. `writersGone` is aborted when
   * nothing is left that could write to its pipes.
   */
  hold(writersGone: AbortSignal): Promise<Pick<AgentOutcome, 'judgedBy' | 'result' | 'error'>>;
}

/** The two ends of a conversation. */
export interface Channel {
  /** The receiver of the agent's questions. */
  sink: AgentSink;
  launched: LaunchedAgent;
  recorder: OutputRecorder;
  terminator: Terminator;
}

const noOutput = { bytes: 0, persistedBytes: 0, truncated: false, refusedLines: 0 };

/** An agent that was never there. */
const withoutProcess = (ended: 'spawn-failed' | 'stopped', error?: string): AgentOutcome => ({
  ended,
  judgedBy: 'exit',
  exitCode: null,
  signal: null,
  ...compact({ error }),
  output: noOutput,
  lastWords: '',
  durationMs: 0,
});

/** A function, because it may change between two questions. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

export interface LocalRun {
  sink: AgentSink;
  signal: AbortSignal;
  /** Where the agent is started. */
  host: AgentHost;
  /** How the agent is spoken to. */
  converse: (channel: Channel) => Conversation;
}

/** Runs one agent that is a process of this host to its end: see `AgentProvider.run`. */
export async function runLocal(
  dispatch: AgentDispatch,
  { sink, signal, host, converse }: LocalRun,
): Promise<AgentOutcome> {
  if (isAborted(signal)) {
    return withoutProcess('stopped');
  }
  const writersGone = new AbortController();
  const sandbox = await openSandbox(dispatch, host);
  if (sandbox && 'problem' in sandbox) {
    return withoutProcess('spawn-failed', sandbox.problem);
  }
  return inSandbox(sandbox, async () => {
    const launched = await launchLocal(dispatch, { host, sandbox }, writersGone.signal);
    return 'problem' in launched
      ? withoutProcess('spawn-failed', launched.problem)
      : follow({ dispatch, sink, signal, launched, ranMs: 0, writersGone, converse });
  });
}

/** Closes the sandbox after the run; one that goes on without this worker is opened again by the next. */
async function inSandbox<T>(sandbox: RunSandbox | undefined, run: () => Promise<T>): Promise<T> {
  let isDetached = false;
  try {
    return await run();
  } catch (error) {
    isDetached = error instanceof AgentDetachedError;
    throw error;
  } finally {
    await sandbox?.close(isDetached);
  }
}

/** Resumes an agent that another worker has started: see `AgentProvider.reattach`. */
export async function reattachLocal(
  dispatch: AgentDispatch,
  orphan: OrphanedAgent,
  { sink, signal, host, converse }: LocalRun,
): Promise<AgentOutcome | { refused: ReattachRefusal }> {
  const writersGone = new AbortController();
  const launched = await adoptLocal(dispatch, orphan, { host, over: writersGone.signal });
  if ('refused' in launched) {
    return launched;
  }
  // Its network is cut until its proxy is back; without one it goes on without.
  const opened = await openSandbox(dispatch, host);
  const sandbox = opened && 'problem' in opened ? undefined : opened;
  return inSandbox(sandbox, () =>
    follow({ dispatch, sink, signal, launched: { ...launched, sandbox }, ranMs: orphan.ranMs, writersGone, converse }),
  );
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

/** Waits for the end of a running agent, or detaches it. */
async function follow(following: Following): Promise<AgentOutcome> {
  const { dispatch, signal, launched, ranMs, writersGone } = following;
  const { transport, agent } = launched;
  const startedAt = performance.now() - ranMs;
  const terminator = new Terminator(dispatch, agent);
  const stop = (): void => {
    if (signal.reason === detachReason && agent.detachment && terminator.reason === undefined) {
      agent.detachment.detach();
    } else {
      terminator.end('stopped');
    }
  };
  signal.addEventListener('abort', stop, { once: true });
  // An abort during the launch came before the listener was added.
  if (isAborted(signal)) {
    stop();
  }
  const timer = setTimeout(() => terminator.end('timeout'), Math.max(0, dispatch.timeoutMs - ranMs));

  const finished = terminator.finished().finally(() => writersGone.abort());
  const recording = record(following, terminator);
  let isDetached = false;
  try {
    const [exited, recorded] = await Promise.allSettled([finished, recording]);
    if (exited.status === 'fulfilled') {
      agent.release();
    }
    isDetached = [exited, recorded].some(
      (each) => each.status === 'rejected' && each.reason instanceof AgentDetachedError,
    );
    if (isDetached) {
      throw new AgentDetachedError();
    }
    if (recorded.status === 'rejected') {
      throw recorded.reason;
    }
    if (exited.status === 'rejected') {
      throw exited.reason;
    }
    return {
      ...exited.value,
      ...recorded.value,
      ...compact({ sandbox: launched.sandbox?.evidence() }),
      ended: terminator.reason === 'stopped' || terminator.reason === 'timeout' ? terminator.reason : 'exit',
      durationMs: Math.round(performance.now() - startedAt),
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    agent.detachment?.close();
    if (!isDetached) {
      transport.remove();
    }
  }
}

/** Holds the conversation and gives the agent's output to the sink; a sink that fails ends the agent. */
async function record(
  { dispatch, sink, launched, converse, writersGone }: Following,
  terminator: Terminator,
): Promise<Pick<AgentOutcome, 'output' | 'lastWords' | 'judgedBy' | 'result' | 'error'>> {
  const { attemptId, worktreePath, worktreeIdentity: identity, outputLimitBytes } = dispatch;
  const { agent, secrets, recorded } = launched;
  const batcher = new EventBatcher(
    async (events) => sink.append(events),
    () => terminator.end('sink-failed'),
  );
  const recorder = new OutputRecorder({
    attemptId,
    limitBytes: outputLimitBytes,
    redact: createRedactor(secrets),
    captureFile: createCaptureFile({ worktreePath, identity }, secrets),
    ...compact({ recorded }),
    emit: (event) => batcher.add(event),
  });
  launched.sandbox?.observe((event) => void batcher.add(event));
  const conversation = converse({ launched, recorder, terminator, sink });
  try {
    await sink.started(agent.identity, conversation.live);
    const outcome = await conversation.hold(writersGone.signal);
    await batcher.close();
    return { output: recorder.totals, lastWords: recorder.lastWords, ...outcome };
  } catch (error) {
    if (error instanceof AgentDetachedError) {
      // What was read is appended; what was not is read by the worker that resumes.
      await batcher.close();
      throw error;
    }
    terminator.end('sink-failed');
    agent.stdout.destroy();
    agent.stderr.destroy();
    throw error;
  }
}
