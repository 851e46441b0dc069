import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadFirst } from './node-options';

/** Kills a process of the service (SIGKILL) at a step of it: the first process that comes to it. */
export interface KillPoints {
  /** What the service is started with, so that it is killed. */
  environment: Record<string, string>;
  /**
   * Kills the next process that comes to this step, or to one that the pattern matches, for the given time.
   *
   * @param times 1 when absent
   */
  arm(step: string | RegExp, times?: number): Promise<void>;
  /** Whether a process was killed at the step. */
  isReached(): boolean;
}

/** Which processes are killed, and where. */
interface KillPointSources {
  /** What the path of their program ends in. */
  program: RegExp;
  /**
   * Source of an object: for the name of a factory that a module exports, what makes another factory of it. `step(name)` is a step,
   * `around(name, call)` a call with the steps `before name` and `after name`, and `all(calls)` that for each of an object.
   */
  wrapped: string;
}

/** Preloaded by the processes: nothing of it is in the code under test. */
const preload = (dir: string, { program, wrapped }: KillPointSources): string => `
const { isMainThread } = require('node:worker_threads');
if (isMainThread && ${program.toString()}.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const Module = require('node:module');
  const armed = ${JSON.stringify(join(dir, 'armed'))};
  let came = 0;
  const step = (name) => {
    if (!fs.existsSync(armed)) return;
    const { exact, pattern, times } = JSON.parse(fs.readFileSync(armed, 'utf8'));
    if (exact === undefined ? !new RegExp(pattern).test(name) : exact !== name) return;
    came += 1;
    if (came < times) return;
    try {
      fs.renameSync(armed, ${JSON.stringify(join(dir, 'taken'))});
    } catch {
      // Another process is killed for it.
      return;
    }
    process.kill(process.pid, 'SIGKILL');
  };
  const around = (name, call) => async (...args) => {
    step('before ' + name);
    const result = await call(...args);
    step('after ' + name);
    return result;
  };
  const all = (calls) => Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, around(name, call)]));
  const wrapped = ${wrapped};
  const load = Module._load;
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    const names = Object.keys(wrapped).filter((each) => typeof loaded?.[each] === 'function');
    return names.reduce((module, name) => ({ ...module, [name]: wrapped[name](module[name]) }), loaded);
  };
}
`;

/** @param dir of its own, and no service's */
export async function killPoints(dir: string, sources: KillPointSources): Promise<KillPoints> {
  const hook = join(dir, 'kill-points.cjs');
  await mkdir(dir, { recursive: true });
  await writeFile(hook, preload(dir, sources));
  return {
    environment: { NODE_OPTIONS: loadFirst(hook) },
    async arm(step, times = 1) {
      const where = typeof step === 'string' ? { exact: step } : { pattern: step.source };
      await writeFile(join(dir, 'draft'), JSON.stringify({ ...where, times }));
      await rename(join(dir, 'draft'), join(dir, 'armed'));
    },
    isReached: () => !existsSync(join(dir, 'armed')),
  };
}
