import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { baseEnvironment } from './base-environment';
import { umaskEnvironment } from './operator-umask';
import { runProgram, type Program, type ProgramEnd } from './program';
import type { ProgramAnswer, ProgramRequest } from './program-helper';

export type RunProgram = (program: Program) => Promise<ProgramEnd>;

interface Pending {
  resolve(end: ProgramEnd): void;
}

/** A helper that died took what it ran with it, as far as anybody can tell. */
const lost: ProgramEnd = { exitCode: null, stdout: '', stderr: 'the helper that ran it ended', failure: 'killed' };

/**
 * Runs programs through a small helper process. Starting a program copies the page tables of the process that starts it:
 * for a worker that is about 10 ms in which nothing else happens, for the helper about 1 ms beside it. The helper starts
 * with the first program, again after a death, and ends with this process, even a killed one.
 */
export function programRunner(): RunProgram {
  // Run from its sources, as in tests, there is no compiled helper; a small process has no need of one either.
  if (extname(__filename) === '.ts') return runProgram;
  const pending = new Map<number, Pending>();
  let helper: ChildProcess | undefined;
  let ids = 0;

  const start = (): ChildProcess => {
    const child = fork(join(__dirname, 'program-helper.js'), {
      serialization: 'advanced',
      execArgv: [],
      // Programs are given an environment each; whatever else this process knows is none of the helper's.
      env: { ...baseEnvironment(process.env), ...umaskEnvironment() },
    });
    child.on('message', ({ id, end }: ProgramAnswer) => settle(id, end));
    child.once('error', () => forget(child));
    child.once('exit', () => forget(child));
    // An idle helper keeps nobody from ending.
    child.unref();
    return child;
  };

  const settle = (id: number, end: ProgramEnd): void => {
    pending.get(id)?.resolve(end);
    pending.delete(id);
    if (pending.size === 0) helper?.channel?.unref();
  };

  const forget = (child: ChildProcess): void => {
    if (helper !== child) return;
    helper = undefined;
    for (const id of [...pending.keys()]) settle(id, lost);
  };

  return (program) =>
    new Promise((resolve) => {
      const child = (helper ??= start());
      ids += 1;
      const id = ids;
      pending.set(id, { resolve });
      child.channel?.ref();
      child.send({ id, program } satisfies ProgramRequest, (error) => {
        if (error) settle(id, lost);
      });
    });
}
