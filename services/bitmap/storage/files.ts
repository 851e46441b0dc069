import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const asideName = (name: string): string => `${new Date().toISOString().replace(/[:.]/g, '-')}-${name}`;

/** Moves a damaged file out of the way, to where an operator can inspect it; returns its new path. */
export async function quarantine(directory: string, name: string): Promise<string> {
  const folder = join(directory, 'quarantine');
  await mkdir(folder, { recursive: true });
  const path = join(folder, asideName(name));
  await rename(join(directory, name), path);
  return path;
}

/** Stores damaged bytes of a file that itself stays. */
export async function quarantineBytes(directory: string, name: string, bytes: Buffer): Promise<string> {
  const folder = join(directory, 'quarantine');
  await mkdir(folder, { recursive: true });
  const path = join(folder, asideName(name));
  await writeFile(path, bytes);
  return path;
}
