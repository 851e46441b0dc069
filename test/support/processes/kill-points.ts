import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Kills the service of workflow runs (SIGKILL) right before or after a step of a run: the first process that comes to it. */
export interface KillPoints {
  /** What the service is started with, so that it is killed. */
  environment: Record<string, string>;
  /**
   * Kills the next process that comes to a step which the pattern matches: `<before|after> <activity> <input as JSON>`, or
   * `before append <event as JSON>`. Once a process has read a continuation, its steps match with `continued` in front too.
   */
  arm(pattern: RegExp): Promise<void>;
  /** Whether a process was killed at the step. */
  isReached(): boolean;
}

/** Preloaded by the service: nothing of it is in the code under test. */
const preload = (dir: string) => `
const { isMainThread } = require('node:worker_threads');
if (isMainThread && /dist\\/services\\/workflow-runs\\/main\\.js$/.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const Module = require('node:module');
  const armed = ${JSON.stringify(join(dir, 'armed'))};
  let continued = '';
  const step = (line) => {
    if (!fs.existsSync(armed)) return;
    const pattern = new RegExp(fs.readFileSync(armed, 'utf8'));
    if (!pattern.test(line) && !pattern.test(continued + line)) return;
    fs.renameSync(armed, ${JSON.stringify(join(dir, 'taken'))});
    process.kill(process.pid, 'SIGKILL');
  };
  const around = (name, activity) => async (...args) => {
    step('before ' + name + ' ' + JSON.stringify(args[0]));
    const result = await activity(...args);
    if (name === 'loadContinuation') continued = 'continued ';
    step('after ' + name + ' ' + JSON.stringify(args[0]));
    return result;
  };
  const withSteps = (create) => (dependencies) => {
    const { events } = dependencies;
    const append = (scope, entries) => {
      entries.forEach(({ event }) => step('before append ' + JSON.stringify(event)));
      return events.append(scope, entries);
    };
    const activities = create({ ...dependencies, events: { append } });
    return Object.fromEntries(Object.entries(activities).map(([name, each]) => [name, around(name, each)]));
  };
  const load = Module._load;
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    return typeof loaded?.createRunActivities === 'function'
      ? { ...loaded, createRunActivities: withSteps(loaded.createRunActivities) }
      : loaded;
  };
}
`;

/** @param dir of its own, and no service's */
export async function killPoints(dir: string): Promise<KillPoints> {
  const hook = join(dir, 'kill-points.cjs');
  await mkdir(dir, { recursive: true });
  await writeFile(hook, preload(dir));
  return {
    environment: { NODE_OPTIONS: `--require=${hook}` },
    async arm(pattern) {
      await writeFile(join(dir, 'draft'), pattern.source);
      await rename(join(dir, 'draft'), join(dir, 'armed'));
    },
    isReached: () => !existsSync(join(dir, 'armed')),
  };
}
