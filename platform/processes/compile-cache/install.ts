/**
 * Imported first by each entry of the service, and preloaded by its parts and their threads: what modules are, and where they are, is taken from the recording of the build
 * (`scripts/record-compile-cache.ts`), which is most of the CPU that a process needs to start.
 */
import { sep } from 'node:path';
import { digestOfFile, openCacheFile } from './cache-file';
import { loadCompiled } from './load-compiled';
import { cachePath, installedPath, root } from './location';
import { followLinksAlways } from './resolve-links';
import { prepareStackTrace } from './source-positions';

followLinksAlways();
const recorded = openCacheFile(cachePath, root);
if (recorded !== undefined) {
  const isInstalled = recorded.installed !== undefined && recorded.installed === digestOfFile(installedPath);
  const inPackage = `${sep}node_modules${sep}`;
  // What a package of another version leads to is found anew, also by our own modules.
  const isCurrent = (from: string, request: string) =>
    isInstalled || (request.startsWith('.') && !from.includes(inPackage));
  loadCompiled(recorded, isCurrent);
  Error.prepareStackTrace = prepareStackTrace;
}
