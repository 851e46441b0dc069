import { stat } from 'node:fs/promises';
import { createRedactor } from '../../../platform/log/redact';
import { errorMessage } from '../../../platform/errors/app-error';
import { findGroup } from '../../../platform/processes/identity';
import type { AgentDispatch, AgentOutcome, AgentSink } from '../provider';
import { agentEnvironment } from './agent-environment';
import { attemptVariable, endAttempt } from './end-attempt';
import { EventBatcher } from './event-batcher';
import { findCommand } from './find-command';
import { OutputRecorder } from './output-recorder';
import { pump } from './pump';
import { type SpawnedAgent, spawnAgent } from './spawn-agent';
import { type TransportFile, writeTransport } from './transport-file';

const noOutput = { bytes: 0, persistedBytes: 0, truncated: false };

/** An agent that was never there. */
const withoutProcess = (ended: 'spawn-failed' | 'stopped', error?: string): AgentOutcome => ({
  ended,
  exitCode: null,
  signal: null,
  ...(error === undefined ? {} : { error }),
  output: noOutput,
  durationMs: 0,
});

/** A function, because it may change between two questions. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

interface Launch {
  agent: SpawnedAgent;
  transport: TransportFile;
  json: string;
  secrets: string[];
}

/** Starts the agent's process, or says why that is impossible. */
async function launch(dispatch: AgentDispatch, source: NodeJS.ProcessEnv): Promise<Launch | { problem: string }> {
  const { agent, attemptId, taskId, transportDir, worktreePath } = dispatch;
  const { variables, secrets } = agentEnvironment(source, agent.environmentKeys);
  const command = await findCommand(agent.command ?? '', variables.PATH ?? '');
  if ('problem' in command) return command;
  // The system reports a missing working directory as if the command were missing.
  const directory = await stat(worktreePath).catch(() => undefined);
  if (!directory?.isDirectory()) return { problem: `The worktree ${worktreePath} is not a directory.` };

  const json = JSON.stringify(dispatch.transport);
  const transport = await writeTransport(transportDir, attemptId, json);
  try {
    const env = {
      ...variables,
      BOARD_TASK_ID: taskId,
      [attemptVariable]: attemptId,
      BOARD_TASK_ENVELOPE: transport.path,
    };
    const spawned = await spawnAgent({ path: command.path, args: agent.args, cwd: worktreePath, env });
    return { agent: spawned, transport, json, secrets };
  } catch (error) {
    await transport.remove();
    return { problem: `${command.path} could not be started: ${errorMessage(error)}` };
  }
}

/** Why a running agent was ended from here. */
type EndReason = 'stopped' | 'timeout' | 'sink-failed';

/** Ends a running agent at most once, for the first reason that comes up while it runs. */
class Ender {
  reason: EndReason | undefined;
  private exited = false;
  private ending: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dispatch: AgentDispatch,
    private readonly agent: SpawnedAgent,
  ) {}

  readonly end = (reason: EndReason): void => {
    if (this.reason !== undefined || this.exited) return;
    this.reason = reason;
    this.ending = endAttempt(this.dispatch.attemptId, [this.agent.identity], this.dispatch.stopGraceMs);
    // Awaited, and its failure reported, in `finished`.
    this.ending.catch(() => undefined);
  };

  /** Resolves when the agent has ended and nothing it started is left. */
  async finished(): Promise<{ exitCode: number | null; signal: string | null }> {
    const exit = await this.agent.exited;
    this.exited = true;
    await this.ending;
    // Read while the group's number cannot have been given away: its leader has only just ended.
    const members = await findGroup(this.agent.identity.pid);
    await endAttempt(this.dispatch.attemptId, members, this.dispatch.stopGraceMs);
    return exit;
  }
}

/**
 * Runs one process agent to its end: see `AgentProvider.run`.
 *
 * @param source the environment of this process
 */
export async function runAgent(
  dispatch: AgentDispatch,
  sink: AgentSink,
  signal: AbortSignal,
  source: NodeJS.ProcessEnv,
): Promise<AgentOutcome> {
  if (isAborted(signal)) return withoutProcess('stopped');
  const startedAt = performance.now();
  const launched = await launch(dispatch, source);
  if ('problem' in launched) return withoutProcess('spawn-failed', launched.problem);
  const { agent, transport } = launched;

  const ender = new Ender(dispatch, agent);
  const stop = (): void => ender.end('stopped');
  signal.addEventListener('abort', stop, { once: true });
  // An abort during the launch came before anyone listened.
  if (isAborted(signal)) stop();
  const timer = setTimeout(() => ender.end('timeout'), dispatch.timeoutMs);

  const writersGone = new AbortController();
  const finished = ender.finished().finally(() => writersGone.abort());
  const recording = record(launched, dispatch.outputLimitBytes, sink, ender, writersGone.signal);
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
    await transport.remove();
  }
}

/** Gives the agent its task and its output to the sink; a failing sink ends the agent. */
async function record(
  { agent, json, secrets }: Launch,
  limitBytes: number,
  sink: AgentSink,
  ender: Ender,
  writersGone: AbortSignal,
): Promise<Pick<AgentOutcome, 'output' | 'result' | 'error'>> {
  const batcher = new EventBatcher(
    async (events) => sink.append(events),
    () => ender.end('sink-failed'),
  );
  const recorder = new OutputRecorder(limitBytes, createRedactor(secrets), (event) => batcher.add(event));
  try {
    await sink.started(agent.identity);
    agent.send(json);
    await Promise.all([
      pump(agent.stdout, (line) => recorder.stdout(line), writersGone),
      pump(agent.stderr, (line) => recorder.stderr(line), writersGone),
    ]);
    await batcher.close();
  } catch (error) {
    ender.end('sink-failed');
    agent.stdout.destroy();
    agent.stderr.destroy();
    throw error;
  }
  const { result, problem } = recorder.result ?? {};
  return {
    output: recorder.totals,
    ...(result === undefined ? {} : { result }),
    ...(problem === undefined ? {} : { error: problem }),
  };
}
