import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Kills a worker or an API (SIGKILL) right before or after a step of a goal or a scheduled deliverable: the first process that comes to it. */
export interface GoalKillPoints {
  /** What the service is started with, so that it is killed. */
  environment: Record<string, string>;
  /** Kills the next process that comes to this step, such as `after settleGoal`, `before launch` or `before look`. */
  arm(step: string): Promise<void>;
  /** Whether a process was killed at the step. */
  isReached(): boolean;
}

/** Preloaded by the parts of the service: nothing of it is in the code under test. */
const preload = (dir: string) => `
const { isMainThread } = require('node:worker_threads');
if (isMainThread && /dist\\/(?:worker|api)\\/main\\.js$/.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const Module = require('node:module');
  const armed = ${JSON.stringify(join(dir, 'armed'))};
  const step = (name) => {
    if (!fs.existsSync(armed) || fs.readFileSync(armed, 'utf8') !== name) return;
    try {
      fs.renameSync(armed, ${JSON.stringify(join(dir, 'taken'))});
    } catch {
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
  const wrapped = {
    createGoalActivities: (create) => ({ goals, launch, ...others }) =>
      all(create({ ...others, goals: { ...goals, change: around('change', goals.change) }, launch: around('launch', launch) })),
    createContinueRunActivities: (create) => ({ launch, ...others }) => all(create({ ...others, launch: around('launch', launch) })),
    createGoalLauncher: (create) => (...args) => all(create(...args)),
    createScheduledDeliverableActivities: (create) => ({ launch, board, ...others }) =>
      all(create({ ...others, board: { ...board, create: around('create', board.create) }, launch: around('launch', launch) })),
    createDeliverableSchedules: (create) => (...args) => all(create(...args)),
  };
  const load = Module._load;
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    const name = Object.keys(wrapped).find((each) => typeof loaded?.[each] === 'function');
    return name === undefined ? loaded : { ...loaded, [name]: wrapped[name](loaded[name]) };
  };
}
`;

/** @param dir of its own, and no service's */
export async function goalKillPoints(dir: string): Promise<GoalKillPoints> {
  const hook = join(dir, 'goal-kill-points.cjs');
  await mkdir(dir, { recursive: true });
  await writeFile(hook, preload(dir));
  return {
    environment: { NODE_OPTIONS: `--require=${hook}` },
    async arm(step) {
      await writeFile(join(dir, 'draft'), step);
      await rename(join(dir, 'draft'), join(dir, 'armed'));
    },
    isReached: () => !existsSync(join(dir, 'armed')),
  };
}
