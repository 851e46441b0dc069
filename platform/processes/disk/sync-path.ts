import { open } from 'node:fs/promises';

/**
 * Resolves when a file's content, or the names in a directory, are on the disk: a rename survives a power failure only when its
 * directory is synced.
 */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
