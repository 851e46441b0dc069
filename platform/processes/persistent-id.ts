import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The id that is stored in a file: made once, by the first process, and the same for every process from then on. */
export async function persistentId(file: string, make: () => string): Promise<string> {
  // Reading takes no space on a disk that may have none.
  const existing = await readId(file);
  if (existing !== undefined) {
    return existing;
  }
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, `${make()}\n`);
    // Linking fails if another process was first, whose id wins.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

async function readId(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
