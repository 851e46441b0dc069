import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The floor of a durable change of a file: write another one, sync it, give it the name, sync the folder. */
export async function replaceBare(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Where the bare loop has its files. */
export const bareFile = (directory: string, n: number): string => join(directory, `bare-${n}.md`);
