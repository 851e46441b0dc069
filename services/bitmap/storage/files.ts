import { mkdir, open, rename, writeFile } from 'node:fs/promises';
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

/** So much is read at once: systems read less than 2 GiB. */
const readSize = 1_073_741_824;

/** All bytes of a file, also where there are more than 2 GiB, which `readFile` refuses. */
export async function readWhole(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.allocUnsafe(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, Math.min(size - at, readSize), at);
      if (bytesRead === 0) {
        break;
      }
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}
