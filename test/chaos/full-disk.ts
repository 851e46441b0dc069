import { statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The largest disk that is filled, in bytes: a larger one is not a test's. */
const largestDisk = 4 * 1024 ** 3;

/** @throws Error when the disk of the directory is not one that was made to be filled */
export function assertSmallDisk(directory: string): void {
  const { blocks, bsize } = statfsSync(directory);
  if (blocks * bsize > largestDisk) {
    throw new Error(`${directory} is on a disk of more than 4 GiB: it is not filled.`);
  }
}

/** Leaves no space on the disk of the directory for a while. */
export async function fillDisk(directory: string, forMs: number): Promise<void> {
  assertSmallDisk(directory);
  const file = join(directory, 'filler');
  const until = performance.now() + forMs;
  const handle = await open(file, 'w');
  try {
    const block = Buffer.alloc(64 * 1024);
    while (performance.now() < until) {
      const more = await handle.write(block).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
          throw error;
        }
        return undefined;
      });
      // Space that others release meanwhile is filled too.
      if (more === undefined) {
        await delay(50);
      }
    }
  } finally {
    await handle.close();
    await rm(file, { force: true });
  }
}
