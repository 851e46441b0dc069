import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Script } from 'node:vm';
import { sourceDigest, writeCacheFile } from '../platform/processes/compile-cache/cache-file';
import { loadCompiled } from '../platform/processes/compile-cache/load-compiled';
import { cacheDirectory, cachePath, moduleName } from '../platform/processes/compile-cache/location';
import { enableCompileCache, flushCompileCache } from '../platform/processes/compile-cache/node-compile-cache';

/** What the entries of the service load before they do anything. */
const entries = [
  'api/start',
  'worker/start',
  'services/bitmap/start',
  'services/plants/start',
  'services/workflow-runs/start',
  'services/temporal-service',
  'scripts/start-all',
];

const load = createRequire(__filename);
function loadEntries(): void {
  for (const entry of entries) {
    load(join(__dirname, '..', entry));
  }
}

/** Loads the entries once, and stores what V8 compiled for those that load them later. */
function record(): void {
  mkdirSync(cacheDirectory, { recursive: true });
  if (enableCompileCache !== undefined) {
    enableCompileCache(cacheDirectory);
    loadEntries();
    flushCompileCache?.();
    return;
  }
  const scripts = new Map<string, { digest: string; script: Script }>();
  loadCompiled(new Map(), (filename, source, script) =>
    scripts.set(moduleName(filename), { digest: sourceDigest(source), script }),
  );
  loadEntries();
  // Only now: what ran while the module was loaded is compiled too.
  const compiled = [...scripts].map(
    ([name, { digest, script }]) => [name, { digest, data: script.createCachedData() }] as const,
  );
  writeCacheFile(cachePath, new Map(compiled));
}

record();
// Threads and timers of what was loaded would keep the process.
process.exit();
