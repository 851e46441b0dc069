/** A file could not be written because its disk, or the quota on it, is full. Nothing of it remains. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';

  constructor(
    /** What was to be written there, as an operator calls it: `the task files`. */
    readonly where: string,
    options?: ErrorOptions,
  ) {
    super(`There is no space left on the disk of ${where}.`, options);
  }
}

/** Whether the system reports that a disk, or a quota on it, is full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** Runs what writes files, and names what is full when there is no space. @throws DiskFullError */
export async function namingFullDisk<T>(where: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isDiskFull(error) ? new DiskFullError(where, { cause: error }) : error;
  }
}
