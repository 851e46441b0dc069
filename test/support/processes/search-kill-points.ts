import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Kills the API (SIGKILL) right before or after a write of the search index. */
export interface SearchKillPoints {
  /** What the service is started with, so that it is killed. */
  environment: Record<string, string>;
  /** Kills the API when it comes to this step for the given time, such as `before put` or `after remove`. */
  arm(step: string, times: number): Promise<void>;
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
  const counts = new Map();
  const step = (name) => {
    if (!fs.existsSync(armed)) return;
    const [wanted, times] = fs.readFileSync(armed, 'utf8').split('/');
    if (wanted !== name) return;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (counts.get(name) < Number(times)) return;
    fs.renameSync(armed, ${JSON.stringify(join(dir, 'taken'))});
    process.kill(process.pid, 'SIGKILL');
  };
  const around = (name, call) => async (...args) => {
    step('before ' + name);
    const result = await call(...args);
    step('after ' + name);
    return result;
  };
  const load = Module._load;
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    if (typeof loaded?.createSearchVectorStore === 'function') {
      const create = async (...parts) => {
        const { put, publish, ...others } = await loaded.createSearchVectorStore(...parts);
        return { ...others, put: around('putVectors', put), publish: around('publish', publish) };
      };
      return { ...loaded, createSearchVectorStore: create };
    }
    if (typeof loaded?.createSearchEntryStore !== 'function') return loaded;
    const create = async (...parts) => {
      const { put, remove, ...others } = await loaded.createSearchEntryStore(...parts);
      return { ...others, put: around('put', put), remove: around('remove', remove) };
    };
    return { ...loaded, createSearchEntryStore: create };
  };
}
`;

/** @param dir of its own, and no service's */
export async function searchKillPoints(dir: string): Promise<SearchKillPoints> {
  const hook = join(dir, 'search-kill-points.cjs');
  await mkdir(dir, { recursive: true });
  await writeFile(hook, preload(dir));
  return {
    environment: { NODE_OPTIONS: `--require=${hook}` },
    async arm(step, times) {
      await writeFile(join(dir, 'draft'), `${step}/${times}`);
      await rename(join(dir, 'draft'), join(dir, 'armed'));
    },
    isReached: () => !existsSync(join(dir, 'armed')),
  };
}
