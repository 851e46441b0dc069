import { writeFileSync } from 'node:fs';

/** Appends the byte to the file until its disk, which must be a small one, has none left. */
export function fill(file: string, byte = 0): void {
  for (let bytes = 65_536; bytes >= 1; bytes = Math.floor(bytes / 4)) {
    try {
      for (;;) {
        writeFileSync(file, Buffer.alloc(bytes, byte), { flag: 'a' });
      }
    } catch {
      // Smaller pieces may still fit.
    }
  }
}
