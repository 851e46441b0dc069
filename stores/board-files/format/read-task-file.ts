import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, open as openFile, read as readFile, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

const open = promisify(openFile);
const read = promisify(readFile);

/** What distinguishes one content of a file from the next without reading it. */
export interface Fingerprint {
  signature: string;
  /** The file was written just before: the signature does not prove that it has not been written again since. */
  fresh: boolean;
}

/** What is at the path of a task file. */
export type FileState =
  | { kind: 'missing' }
  | ({ kind: 'unreadable'; problem: string } & Fingerprint)
  | ({ kind: 'text'; text: string; hash: string; writtenAt: Date } & Fingerprint);

/** Far above any real task (a description has up to 100,000 characters), far below what hurts. */
export const maxTaskFileBytes = 2 * 1024 * 1024;

/** Two writes within this time may give a file the same times: file systems count in ticks of 1 to 10 ms. */
const tickMs = 100;

export const fingerprintOf = (stats: Stats): Fingerprint => ({
  signature: `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`,
  fresh: Math.abs(Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs)) < tickMs,
});

/** `undefined` when there is nothing at `path`. */
export async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * The same at once, for a file that was looked at before: what the system remembers of it takes 3 µs, and asking a thread for it
 * ten times as long.
 */
export function statNow(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Reads a regular file of up to 2 MiB of UTF-8 text; follows no symbolic link and opens no device or pipe. Only what may wait for
 * the disk is left to a thread: the way there and back takes ten times as long as the rest.
 */
export async function readTaskFile(path: string): Promise<FileState> {
  let descriptor: number;
  try {
    // O_NONBLOCK: opening a pipe would otherwise wait for a writer for ever.
    descriptor = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return isMissing(error) ? { kind: 'missing' } : refusedOpen(path, error);
  }
  try {
    return await readRegularFile(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What is in a file up to its end, wherever that is by now. */
async function contentOf(descriptor: number, size: number): Promise<Buffer> {
  let content = Buffer.allocUnsafe(size + 1);
  for (let length = 0; ;) {
    const { bytesRead } = await read(descriptor, content, length, content.length - length, length);
    length += bytesRead;
    const isAtEnd = bytesRead === 0 || (length >= size && length < content.length);
    if (isAtEnd) {
      return content.subarray(0, length);
    }
    content = length < content.length ? content : Buffer.concat([content, Buffer.allocUnsafe(content.length)]);
  }
}

async function readRegularFile(descriptor: number): Promise<FileState> {
  const stats = fstatSync(descriptor);
  const fingerprint = fingerprintOf(stats);
  const unreadable = (problem: string): FileState => ({ kind: 'unreadable', ...fingerprint, problem });
  if (!stats.isFile()) {
    return unreadable('is not a regular file');
  }
  if (stats.size > maxTaskFileBytes) {
    return unreadable(`is larger than ${maxTaskFileBytes / 1024 / 1024} MiB`);
  }
  const bytes = await contentOf(descriptor, stats.size);
  if (bytes.includes(0)) {
    return unreadable('contains NUL bytes');
  }
  try {
    // The byte order mark is part of the text: the hash and the parser see the whole file.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'text', ...fingerprint, text, hash: hashOf(bytes), writtenAt: stats.mtime };
  } catch {
    return unreadable('is not UTF-8 text');
  }
}

async function refusedOpen(path: string, error: unknown): Promise<FileState> {
  const stats = await statOf(path);
  if (!stats) {
    return { kind: 'missing' };
  }
  const problem = stats.isSymbolicLink()
    ? 'is a symbolic link; task files are regular files'
    : `cannot be opened (${errorCode(error) ?? 'unknown error'})`;
  return { kind: 'unreadable', ...fingerprintOf(stats), problem };
}

/** Identifies a content. */
export const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('base64');

export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');

/** The system's name of an error, e.g. `ENOENT`. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
