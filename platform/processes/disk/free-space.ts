import { statfs } from 'node:fs/promises';

/** Space that this user may still fill on the disk of a directory, in bytes. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
