/** A thread that counts: the entry point that the pool starts. */
import { parentPort } from 'node:worker_threads';
import type { Bitmap } from '../bitmaps/bitmap';
import { frozenBitmaps } from '../bitmaps/frozen';
import { count, CountExpiredError } from './counting';
import type { Done, Task } from './messages';

const frozen = frozenBitmaps();
const copies = new Map<number, Bitmap>();

/** 0 is a set without columns. */
function bitmapOf(copy: number): Bitmap | undefined {
  const bitmap = copies.get(copy);
  if (!bitmap && copy !== 0) {
    throw new Error(`copy ${copy} was never sent`);
  }
  return bitmap;
}

parentPort?.on('message', ({ add, drop, work, until }: Task) => {
  for (const copy of drop) {
    copies.delete(copy);
  }
  for (const [copy, bytes] of add) {
    copies.set(copy, frozen.view(bytes));
  }
  try {
    const done = count(work, { bitmapOf, until });
    parentPort?.postMessage(done satisfies Done, [done.counts.buffer]);
  } catch (error) {
    if (!(error instanceof CountExpiredError)) {
      throw error;
    }
    parentPort?.postMessage('expired' satisfies Done);
  }
});
