import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { identify, isSameProcess } from './identity';

const owner = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });

/** Somebody else runs the service on this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';

  constructor(dataDir: string, pid: number) {
    super(`The data directory ${dataDir} is used by process ${pid}. Stop that one, or set BOARD_DATA_DIR to another.`);
  }
}

/**
 * Makes the data directory and marks it as supervised by this process, so that a second supervisor does not adopt, and
 * later stop, the embedded server of the first. The mark of a process that has ended does not count.
 *
 * @returns gives it back
 * @throws DataDirectoryInUseError
 */
export async function claimDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'runtime', 'supervisor.json');
  await mkdir(join(dataDir, 'runtime'), { recursive: true });
  const self = JSON.stringify(await identify(process.pid));
  for (;;) {
    try {
      // Fails when it exists: of two supervisors at once, one makes it.
      await writeFile(file, self, { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = owner.safeParse(await readJson(file)).data;
    if (other && (await isSameProcess(other))) throw new DataDirectoryInUseError(dataDir, other.pid);
    await rm(file, { force: true });
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
