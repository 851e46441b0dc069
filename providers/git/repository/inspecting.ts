import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeAbandonedDirectories } from '../../../platform/processes/scratch';

const prefix = 'inspection-';

/**
 * Lends a directory for what is recorded of a repository that is only inspected. No other user can read it, and it is removed
 * with everything in it; that of a worker which was killed meanwhile is left to {@link removeAbandonedInspections}.
 */
export async function withInspectionDirectory<T>(
  settingsDir: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(settingsDir, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(settingsDir, prefix));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Removes what inspections left behind whose worker was killed more than an hour ago. @returns the paths of the directories */
export const removeAbandonedInspections = (settingsDir: string, now?: () => number): Promise<string[]> =>
  removeAbandonedDirectories(settingsDir, prefix, now);
