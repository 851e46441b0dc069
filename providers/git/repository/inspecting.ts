import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Lends a directory for what is recorded of a repository that is only inspected. No other user can read it, and it is removed
 * with everything in it.
 */
export async function withInspectionDirectory<T>(
  settingsDir: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(settingsDir, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(settingsDir, 'inspection-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
