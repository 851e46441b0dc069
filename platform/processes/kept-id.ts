import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The id that is kept in a file: made once, by whoever comes first, and the same for everybody from then on. */
export async function keptId(file: string, make: () => string): Promise<string> {
  // Reading takes no space on a disk that may have none.
  const kept = await readKept(file);
  if (kept !== undefined) return kept;
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, `${make()}\n`);
    // Linking fails if another process was first, whose id then stands.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

async function readKept(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
