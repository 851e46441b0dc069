/**
 * A thread that searches for patterns, one after the other. A pattern may take for ever; the thread is ended then
 * (`find-patterns.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Found, Search } from './messages';

for (const { pattern, flags, text } of workerData as Search[]) {
  const isMatch: Found = new RegExp(pattern, flags).test(text);
  parentPort?.postMessage(isMatch);
}
