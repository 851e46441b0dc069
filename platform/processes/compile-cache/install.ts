/**
 * Compiled code of modules, and the files that their requests resolve to, are taken from the recording of the build
 * (`scripts/record-compile-cache.ts`). That saves most of the CPU that a process needs to start.
 */
import { sep } from 'node:path';
import { digestOfFile, openCacheFile } from './cache-file';
import { loadCompiled } from './load-compiled';
import { cachePath, installedPath, root } from './location';
import { followLinksAlways } from './resolve-links';
import { sharePackagePaths } from './share-paths';
import { prepareStackTrace } from './source-positions';

followLinksAlways();
sharePackagePaths();
const recorded = openCacheFile(cachePath, root);
if (recorded !== undefined) {
  const isInstalled = recorded.installed !== undefined && recorded.installed === digestOfFile(installedPath);
  const inPackage = `${sep}node_modules${sep}`;
  // Where other packages are installed, Node resolves each request of a package, or for one.
  const isCurrent = (from: string, request: string) =>
    isInstalled || (request.startsWith('.') && !from.includes(inPackage));
  loadCompiled(recorded, isCurrent);
  Error.prepareStackTrace = prepareStackTrace;
}
