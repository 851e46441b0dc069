import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The same compressed, where that is shorter. */
  readonly gzipped: Buffer | undefined;
  /** Entity tag with its quotes. */
  readonly tag: string;
}

/** The files of a page by the path that they are requested with, such as `/assets/main-4f2a.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

const compress = promisify(gzip);

/** A file of these bytes, compressed where that is shorter. */
export async function pageFile(bytes: Buffer, type: string): Promise<PageFile> {
  const gzipped = await compress(bytes, { level: 9 });
  return {
    type,
    bytes,
    gzipped: gzipped.length < bytes.length ? gzipped : undefined,
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 24)}"`,
  };
}

/**
 * Reads the files of a built page into memory, once: a request names one of them, and no path of a caller reaches the disk.
 *
 * @returns `undefined` where there is no built page
 */
export async function readPageFiles(directory: string): Promise<PageFiles | undefined> {
  const names = await readdir(directory, { recursive: true }).catch((): string[] => []);
  if (!names.includes('index.html')) {
    return undefined;
  }
  const files = new Map<string, PageFile>();
  for (const name of names.toSorted()) {
    const type = types[extname(name)];
    if (type !== undefined) {
      files.set(`/${name.split(sep).join('/')}`, await pageFile(await readFile(join(directory, name)), type));
    }
  }
  return files;
}
