import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stoppedLockHolders } from '../../../platform/processes/stopped-lock-holders';
import { eventually } from '../../../platform/testing/eventually';
import { loadFirst } from './node-options';

/** Stops a worker process (SIGSTOP) right before it does something: the first one that comes to the point. */
export interface PausePoints {
  /** What workers are started with, so that they stop. */
  environment: Record<string, string>;
  /**
   * Stops the next worker that is about to do what the pattern matches: `git <arguments>`, `spawn <attemptId> <program>` or
   * `write <path>`.
   *
   * @param name names the point
   */
  arm(name: string, pattern: RegExp): Promise<void>;
  /** Resolves with the process that stands at the point. */
  reached(name: string): Promise<number>;
  /** Resolves when the process's late request has its response. */
  done(name: string): Promise<void>;
  /** Takes every point away that was not reached. */
  clear(): void;
}

/** Preloaded by workers: nothing of it is in the code under test. */
const preload = (points: string) => `
const { isMainThread } = require('node:worker_threads');
if (isMainThread && /dist\\/worker\\/main\\.js$/.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const { join } = require('node:path');
  const children = require('node:child_process');
  const points = ${JSON.stringify(points)};
  /** Stops this process at a point that matches and that no other one has taken. */
  const pause = (line) => {
    for (const name of fs.readdirSync(points)) {
      if (!name.endsWith('.armed')) continue;
      const taken = join(points, name.replace(/armed$/, 'taken'));
      try {
        if (!new RegExp(fs.readFileSync(join(points, name), 'utf8')).test(line)) continue;
        fs.renameSync(join(points, name), taken);
      } catch {
        continue;
      }
      fs.writeFileSync(taken, String(process.pid));
      process.kill(process.pid, 'SIGSTOP');
      const again = taken.replace(/taken$/, 'again');
      while (fs.existsSync(again)) {
        // Its store writes on a thread of its own, which ends its transaction meanwhile.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        fs.rmSync(again);
        process.kill(process.pid, 'SIGSTOP');
      }
      return () => fs.writeFileSync(taken.replace(/taken$/, 'done'), '');
    }
  };
  const fork = children.fork;
  children.fork = (...args) => {
    const child = fork(...args);
    const send = child.send;
    child.send = (message, ...rest) => {
      if (message?.program === undefined) return send.call(child, message, ...rest);
      const done = pause(message.program.file + ' ' + message.program.args.join(' '));
      if (done) child.on('message', ({ id }) => id === message.id && done());
      return send.call(child, message, ...rest);
    };
    return child;
  };
  const spawn = children.spawn;
  children.spawn = (file, args, options) => {
    const attempt = options?.env?.BOARD_ATTEMPT_ID;
    const done = attempt && pause('spawn ' + attempt + ' ' + file);
    const child = spawn(file, args, options);
    if (done) child.once('exit', done);
    return child;
  };
  const write = fs.promises.writeFile;
  fs.promises.writeFile = async (path, ...rest) => {
    const done = pause('write ' + path);
    try {
      return await write(path, ...rest);
    } finally {
      done?.();
    }
  };
}
`;

/**
 * @param dir of its own, and no service's
 * @param database the file of the service's database. The supervisor ends a part that is stopped in a transaction: one that is
 *   goes on until it has ended that, and is then stopped at the same point
 */
export async function pausePoints(dir: string, database: () => string): Promise<PausePoints> {
  const points = join(dir, 'pause-points');
  const hook = join(dir, 'pause-points.cjs');
  await mkdir(points, { recursive: true });
  await writeFile(hook, preload(points));
  const file = (name: string, state: string) => join(points, `${name}.${state}`);
  const armed: string[] = [];
  return {
    environment: { NODE_OPTIONS: loadFirst(hook) },
    async arm(name, pattern) {
      for (const state of ['armed', 'taken', 'again', 'done']) {
        rmSync(file(name, state), { force: true });
      }
      await writeFile(file(name, 'draft'), pattern.source);
      await rename(file(name, 'draft'), file(name, 'armed'));
      armed.push(name);
    },
    reached: (name) =>
      eventually(async () => {
        const pid = existsSync(file(name, 'taken')) ? Number(readFileSync(file(name, 'taken'), 'utf8')) : 0;
        // Written after the name was taken, and right before the process stops.
        if (!(pid > 0) || !isStopped(pid)) {
          throw new Error(`no worker stands at ${name}`);
        }
        if ((await stoppedLockHolders(database())).includes(pid)) {
          writeFileSync(file(name, 'again'), '');
          process.kill(pid, 'SIGCONT');
          throw new Error(`the worker at ${name} is in a transaction`);
        }
        return pid;
      }),
    done: (name) =>
      eventually(() => {
        if (!existsSync(file(name, 'done'))) {
          throw new Error(`what stood at ${name} has not been answered`);
        }
      }),
    clear() {
      for (const name of armed.splice(0)) {
        rmSync(file(name, 'armed'), { force: true });
      }
    },
  };
}

/** Whether a process is stopped by a signal. */
export const isStopped = (pid: number): boolean => {
  try {
    return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
