import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { digestOfFile, writeCacheFile } from '../platform/processes/compile-cache/cache-file';
import { recordLoaded } from '../platform/processes/compile-cache/load-compiled';
import { cacheDirectory, cachePath, installedPath, root } from '../platform/processes/compile-cache/location';

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

/** What they load when they first use it, which is while they start (`loadedOnUse` in `scripts/compile.mjs`). */
const used = ['@temporalio/client', '@temporalio/worker', 'libsql', 'libsql/promise', 'ws', 'yaml'];

/** Loads the entries once, and stores what V8 compiled for those that load them later. */
function record(): void {
  mkdirSync(cacheDirectory, { recursive: true });
  const recorder = recordLoaded();
  const load = createRequire(__filename);
  for (const entry of [...used, ...entries.map((each) => join(__dirname, '..', each))]) {
    load(entry);
  }
  // Only now: what ran while the module was loaded is compiled too.
  const { resolved } = recorder;
  writeCacheFile(cachePath, root, { modules: recorder.modules(), resolved, installed: digestOfFile(installedPath) });
}

record();
// Threads and timers of what was loaded would keep the process.
process.exit();
