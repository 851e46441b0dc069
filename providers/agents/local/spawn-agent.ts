import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { findGroup, identifyChild, type ProcessIdentity } from '../../../platform/processes/identity';
import { asOperator } from '../../../platform/processes/operator-umask';
import type { Delivery } from '../provider';
import { agentReaper, type ReaperGuard } from '../reaper/agent-reaper';
import { type AgentUser, asUser } from '../user/agent-user';
import { deliver } from './deliver';

type AgentProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** A running agent, attached or detached. */
export interface SpawnedAgent {
  identity: ProcessIdentity;
  stdout: Readable;
  stderr: Readable;
  stdin: Writable;
  /** Writes one line; an agent that does not read its input is not an error. */
  send(json: string): void;
  /** Writes one line and reports whether the agent's pipe has accepted it. Nothing is written behind unread input. */
  deliver(json: string): Promise<Delivery>;
  /** Resolves when the process itself has ended; what it started may still run and hold its pipes. */
  exited: Promise<{ exitCode: number | null; signal: string | null }>;
  /** To be called when nothing of it is left: until then it is ended if this process dies. */
  release(): void;
  /** What runs in its group; asked while, or just after, it runs, when the group's number cannot be another's. */
  group(): Promise<ProcessIdentity[]>;
}

export interface SpawnRequest {
  path: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** The name of a variable of `env` that no other agent has with the same value. */
  marker: string;
  /** Who it runs as; this process's user when absent. */
  user?: AgentUser | undefined;
  /** What it is confined to: the program as it is started in there, as its user. */
  confine?: ((program: Program) => Promise<Program>) | undefined;
}

export interface Program {
  path: string;
  args: readonly string[];
}

/** The program that is started for a request: in its sandbox, or as its user, or as it is. */
export async function startedProgram({ path, args, user, confine }: SpawnRequest): Promise<Program> {
  if (confine) {
    return confine({ path, args });
  }
  return user ? asUser(user, { path, args }) : { path, args };
}

/** The first exit code that stands for a signal to a shell, and to a sandbox. */
const firstSignal = 128;
const signals = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** How a program ended that was started by another one, which passes its end on as a number. */
export function endOf(code: number | null): { exitCode: number | null; signal: string | null } {
  const signal = code === null ? undefined : signals.get(code - firstSignal);
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal };
}

/**
 * Starts an agent without a shell, as the leader of a session and process group of its own: signals to this process's
 * terminal do not reach it, and ending the group ends what it started. If this process dies, the agent is ended.
 *
 * @throws the system's error when it cannot be started
 */
export async function spawnAgent(request: SpawnRequest): Promise<SpawnedAgent> {
  const { marker, env } = request;
  const guard = await agentReaper.guard({ name: marker, value: env[marker] ?? '' });
  try {
    return await spawnGuarded(request, guard);
  } catch (error) {
    guard.release();
    throw error;
  }
}

async function spawnGuarded(request: SpawnRequest, guard: ReaperGuard): Promise<SpawnedAgent> {
  const { cwd, env, confine } = request;
  const { path, args } = await startedProgram(request);
  const child: AgentProcess = asOperator(() =>
    spawn(path, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  // Read in the same turn: an agent that ends at once has not been reaped yet.
  const identity = child.pid === undefined ? undefined : identifyChild(child.pid);
  const exited = once(child, 'exit').then(([exitCode, signal]) =>
    confine && exitCode !== null
      ? endOf(exitCode as number)
      : { exitCode: exitCode as number | null, signal: signal as string | null },
  );
  // Without a process `exit` never comes, and `error` does: that is awaited below.
  exited.catch(() => undefined);
  if (identity === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  }
  guard.started(identity);
  const ended = new AbortController();
  void exited.finally(() => ended.abort());
  // The agent may close its input or end before it has read everything (EPIPE): its own business.
  child.stdin.on('error', () => undefined);
  // Without a reader, Node throws away what is in the pipes of a child that exits: with one, it waits until it is read.
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('readable', () => undefined);
  }
  // A signal that cannot be delivered is an `error` event too; ending processes is done, and checked, elsewhere.
  child.on('error', () => undefined);
  return {
    identity,
    stdout: child.stdout,
    stderr: child.stderr,
    stdin: child.stdin,
    send: (json) => void child.stdin.write(`${json}\n`),
    deliver: (json) => deliver({ stdin: child.stdin, ended: ended.signal }, json),
    exited,
    release: () => guard.release(),
    group: () => findGroup(identity.pid),
  };
}
