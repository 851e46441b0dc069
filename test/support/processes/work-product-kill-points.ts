import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The collections of work products, by the names that steps have. */
const collections = { record: 'work-products', content: 'work-product-contents' };

export interface WorkProductKillPoints {
  /** What the service is started with, so that it is killed. */
  environment: Record<string, string>;
  /** Kills the API (SIGKILL) right after the next such write: `record insert`, `content deleteMany`. */
  arm(step: string): Promise<void>;
  /** Whether the API was killed at the step. */
  isReached(): boolean;
}

/** Preloaded by the parts of the service: nothing of it is in the code under test. */
const preload = (dir: string) => `
const { isMainThread } = require('node:worker_threads');
if (isMainThread && /dist\\/api\\/main\\.js$/.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const Module = require('node:module');
  const armed = ${JSON.stringify(join(dir, 'armed'))};
  const names = new Map(Object.entries(${JSON.stringify(collections)}).map(([short, name]) => [name, short]));
  const step = (name) => {
    if (!fs.existsSync(armed) || fs.readFileSync(armed, 'utf8') !== name) return;
    fs.renameSync(armed, ${JSON.stringify(join(dir, 'taken'))});
    process.kill(process.pid, 'SIGKILL');
  };
  const watched = (short, collection) =>
    Object.fromEntries(Object.entries(collection).map(([name, call]) => [name, async (...args) => {
      const result = await call(...args);
      step(short + ' ' + name);
      return result;
    }]));
  const load = Module._load;
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    if (typeof loaded?.createWorkProductStore !== 'function') return loaded;
    const create = (database, ...rest) => {
      const collection = async (spec) => {
        const opened = await database.collection(spec);
        return names.has(spec.name) ? watched(names.get(spec.name), opened) : opened;
      };
      return loaded.createWorkProductStore({ ...database, collection }, ...rest);
    };
    return { ...loaded, createWorkProductStore: create };
  };
}
`;

/** @param dir of its own, and no service's */
export async function workProductKillPoints(dir: string): Promise<WorkProductKillPoints> {
  const hook = join(dir, 'work-product-kill-points.cjs');
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
