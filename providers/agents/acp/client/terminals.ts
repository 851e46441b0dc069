import { randomUUID } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { TerminalOutputResponse, WaitForTerminalExitResponse } from '@agentclientprotocol/sdk/unstable';
import { compact } from '../../../../platform/json/compact';
import { findCommand } from '../../../../platform/processes/find-command';
import { endProcess } from '../../../../platform/processes/kill-process-group';
import { spawnAgent, type SpawnedAgent, type SpawnRequest } from '../../local/spawn-agent';
import type { AgentUser } from '../../user/agent-user';

/** Commands of one agent that may run at a time, and the most of the output of each that is stored, in bytes. */
const most = { terminals: 16, outputBytes: 1_048_576 } as const;

/** The variable that marks every process of a command, beside that of its attempt. */
const terminalVariable = 'BOARD_TERMINAL_ID';

/** How long the output of a command that has ended is waited for, in milliseconds. */
const drainMs = 500;

/** What an agent asked for cannot be had; the message is a sentence for it. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

export interface TerminalRequest {
  command: string;
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  /** Everything the command sees. */
  env: Record<string, string>;
  outputByteLimit?: number | null | undefined;
}

interface Terminal {
  process: SpawnedAgent;
  output: Tail;
  exit: { exitCode: number | null; signal: string | null } | undefined;
  exited: Promise<unknown>;
}

/**
 * Commands that an agent has us start: each without a shell, as the leader of a process group of its own, with a bounded
 * output. None outlives `close`.
 */
export class Terminals {
  private readonly open = new Map<string, Terminal>();
  private starting = 0;
  private closed = false;

  constructor(
    private readonly options: { graceMs: number; user?: AgentUser | undefined; confine?: SpawnRequest['confine'] },
  ) {}

  /** @returns the id of the terminal @throws TerminalError */
  async create({ command, args, cwd, env, outputByteLimit }: TerminalRequest): Promise<string> {
    if (this.closed) {
      throw new TerminalError('The session has ended.');
    }
    if (this.open.size + this.starting >= most.terminals) {
      throw new TerminalError(`The limit of ${most.terminals} terminals is reached: release one.`);
    }
    const executable = findCommand(command, env.PATH ?? '');
    if ('problem' in executable) {
      throw new TerminalError(executable.problem);
    }
    this.starting += 1;
    try {
      const id = randomUUID();
      const process = await spawnAgent({
        path: executable.path,
        args,
        cwd,
        env: { ...env, [terminalVariable]: id },
        marker: terminalVariable,
        user: this.options.user,
        confine: this.options.confine,
      });
      const terminal = watch(process, Math.min(outputByteLimit ?? most.outputBytes, most.outputBytes));
      this.open.set(id, terminal);
      // The session may have ended while it was started.
      if (this.isClosed()) {
        await this.release(id);
      }
      return id;
    } catch (error) {
      throw new TerminalError(`${command} could not be started: ${(error as Error).message}`);
    } finally {
      this.starting -= 1;
    }
  }

  output(id: string): TerminalOutputResponse {
    const { output, exit } = this.find(id);
    return { output: output.text(), truncated: output.truncated, ...compact({ exitStatus: exit }) };
  }

  async waitForExit(id: string, signal: AbortSignal): Promise<WaitForTerminalExitResponse> {
    const terminal = this.find(id);
    const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    await Promise.race([terminal.exited, ...(signal.aborted ? [] : [aborted])]);
    return terminal.exit ?? { exitCode: null, signal: null };
  }

  /** Ends the command with everything in its group; its output can still be read. */
  async kill(id: string): Promise<void> {
    const { process } = this.find(id);
    await endProcess([process.identity, ...(await process.group())], { graceMs: this.options.graceMs });
  }

  async release(id: string): Promise<void> {
    await this.kill(id);
    const { process } = this.find(id);
    for (const stream of [process.stdout, process.stderr]) {
      stream.destroy();
    }
    this.open.delete(id);
  }

  /** Ends everything; nothing is started afterwards. */
  async close(): Promise<void> {
    this.closed = true;
    // What cannot be ended here is found by the attempt's id in its environment.
    await Promise.allSettled([...this.open.keys()].map((id) => this.release(id)));
  }

  private isClosed(): boolean {
    return this.closed;
  }

  private find(id: string): Terminal {
    const terminal = this.open.get(id);
    if (!terminal) {
      throw new TerminalError(`No terminal has the id ${id.slice(0, 64)}.`);
    }
    return terminal;
  }
}

function watch(process: SpawnedAgent, limitBytes: number): Terminal {
  const output = new Tail(limitBytes);
  const ended = Promise.all([process.stdout, process.stderr].map((stream) => store(stream, output)));
  process.stdin.end();
  const terminal: Terminal = { process, output, exit: undefined, exited: Promise.resolve() };
  terminal.exited = process.exited.then(async (exit) => {
    // The last of its output may still be in the pipes; what it left running may hold them for ever.
    await Promise.race([ended, delay(drainMs, undefined, { ref: false })]);
    terminal.exit = exit;
  });
  return terminal;
}

async function store(stream: Readable, output: Tail): Promise<void> {
  try {
    for await (const piece of stream) {
      output.add(piece as Buffer);
    }
  } catch {
    // Destroyed when its terminal is released.
  }
}

/** The end of an output. */
class Tail {
  private pieces: Buffer[] = [];
  private bytes = 0;
  truncated = false;

  constructor(private readonly limitBytes: number) {}

  add(piece: Buffer): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    // Joined now and then: many small pieces are buffered, not copied each time.
    if (this.bytes > this.limitBytes * 2 || this.pieces.length > 1_000) {
      this.trim();
    }
  }

  text(): string {
    this.trim();
    return new TextDecoder('utf-8').decode(this.pieces[0] ?? Buffer.alloc(0));
  }

  private trim(): void {
    const all = Buffer.concat(this.pieces);
    const start = characterStart(all, Math.max(0, all.length - this.limitBytes));
    this.truncated ||= start > 0;
    this.pieces = [all.subarray(start)];
    this.bytes = all.length - start;
  }
}

/** Where the next whole character begins. */
function characterStart(bytes: Buffer, from: number): number {
  let at = from;
  while (from > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) {
    at += 1;
  }
  return at;
}

/** An argument that is a path of the worktree which leads out of it, by a symbolic link; `undefined` without one. */
export async function argumentOutside(
  args: readonly string[],
  cwd: string,
  worktreePath: string,
): Promise<string | undefined> {
  for (const arg of args) {
    const path = resolve(cwd, arg);
    if (!(await lstat(path).catch(() => undefined))) {
      continue;
    }
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || (real !== worktreePath && !real.startsWith(worktreePath + sep))) {
      return arg;
    }
  }
  return undefined;
}
