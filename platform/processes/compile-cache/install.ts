/**
 * Imported first by each entry of the service: modules that the build compiled (`scripts/record-compile-cache.ts`) are not
 * compiled again, which is a third of the CPU that a process needs to start.
 */
import { readCacheFile } from './cache-file';
import { loadCompiled } from './load-compiled';
import { cacheDirectory, cachePath } from './location';
import { enableCompileCache } from './node-compile-cache';
import { prepareStackTrace } from './source-positions';

if (enableCompileCache === undefined) {
  const known = readCacheFile(cachePath);
  if (known.size > 0) {
    loadCompiled(known);
    Error.prepareStackTrace = prepareStackTrace;
  }
} else {
  enableCompileCache(cacheDirectory);
}
