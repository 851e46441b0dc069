import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { compiledScript } from '../compiled-script';
import { baseEnvironment } from '../environment/base-environment';
import { umaskEnvironment } from '../operator-umask';
import { type Program, type ProgramEnd, runProgram } from './program';
import type { ProgramRequest, ProgramResponse } from './program-helper';

export type RunProgram = (program: Program) => Promise<ProgramEnd>;

interface Pending {
  resolve(end: ProgramEnd): void;
}

/** A helper that died ended what it ran, as far as can be determined. */
const lost: ProgramEnd = { exitCode: null, stdout: '', stderr: 'the helper that ran it ended', failure: 'killed' };

/** How long a helper that runs nothing stays alive, in milliseconds. */
const idleMs = 5_000;

/**
 * Runs programs through a small helper process. Starting a program copies the page tables of the process that starts it:
 * for a worker that is about 10 ms in which nothing else happens, for the helper about 1 ms beside it. The helper starts
 * with the first program, ends when it has run none for some seconds, and ends with this process, even a killed one.
 */
export function programRunner(): RunProgram {
  const script = compiledScript(__dirname, 'program-helper.js');
  // Pure tests run without a build.
  return existsSync(script) ? (program) => (shared ??= new ProgramHelper(script)).run(program) : runProgram;
}

/** One for all callers of this process: each start costs a few dozen milliseconds. */
let shared: ProgramHelper | undefined;

class ProgramHelper {
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ids = 0;

  constructor(private readonly script: string) {}

  run(program: Program): Promise<ProgramEnd> {
    clearTimeout(this.#idle);
    return new Promise((resolve) => {
      const child = (this.#child ??= this.#start());
      const id = (this.#ids += 1);
      this.#pending.set(id, { resolve });
      child.channel?.ref();
      child.send({ id, program } satisfies ProgramRequest, (error) => {
        if (error) {
          this.#settle(id, lost);
        }
      });
    });
  }

  #start(): ChildProcess {
    const child = fork(this.script, {
      serialization: 'advanced',
      execArgv: [],
      // Each program gets its own environment; the rest of this process's is not for the helper.
      env: { ...baseEnvironment(process.env), ...umaskEnvironment() },
    });
    child.on('message', ({ id, end }: ProgramResponse) => this.#settle(id, end));
    child.once('error', () => this.#forget(child));
    child.once('exit', () => this.#forget(child));
    // An idle helper does not prevent this process from ending.
    child.unref();
    return child;
  }

  #settle(id: number, end: ProgramEnd): void {
    this.#pending.get(id)?.resolve(end);
    this.#pending.delete(id);
    if (this.#pending.size === 0) {
      this.#rest();
    }
  }

  /** The helper may end when nothing comes; so may this process. */
  #rest(): void {
    const child = this.#child;
    if (!child) {
      return;
    }
    child.channel?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#dismiss(child), idleMs).unref();
  }

  #dismiss(child: ChildProcess): void {
    if (this.#child !== child || this.#pending.size > 0) {
      return;
    }
    this.#child = undefined;
    if (child.connected) {
      child.disconnect();
    }
  }

  #forget(child: ChildProcess): void {
    if (this.#child !== child) {
      return;
    }
    this.#child = undefined;
    for (const id of [...this.#pending.keys()]) {
      this.#settle(id, lost);
    }
  }
}
