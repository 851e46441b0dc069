import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** How much of a workspace is listed, and how much of one file is read, in bytes. */
const limits = { entries: 10_000, depth: 50, bytes: 65_536 };

/** What a file holds, or why that is not shown. */
export type FileContents = { contents: string; omitted?: 'binary' | 'too-large' | 'no-file' | 'gone' };

/** A workspace has more entries than are listed. */
export class TooManyFilesError extends Error {
  override readonly name = 'TooManyFilesError';
}

/**
 * The paths of all that is in a workspace but directories, relative to it and sorted. Links are not followed.
 *
 * @throws TooManyFilesError
 */
export async function listFiles(workspace: string): Promise<string[]> {
  const found: string[] = [];
  const pending: string[] = [''];
  let entries = 0;
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of await entriesOf(join(workspace, directory), limits.entries - entries)) {
      entries += 1;
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (!entry.isDirectory()) {
        found.push(path);
      } else if (path.split('/').length <= limits.depth) {
        pending.push(path);
      } else {
        throw new TooManyFilesError(`The workspace has directories that are nested more than ${limits.depth} deep.`);
      }
    }
  }
  return found.sort();
}

/** Of a directory that is gone meanwhile there are none. @throws TooManyFilesError beyond `most` */
async function entriesOf(path: string, most: number): Promise<Dirent[]> {
  const directory = await opendir(path).catch(() => undefined);
  const found: Dirent[] = [];
  for await (const entry of directory ?? []) {
    if (found.length >= most) {
      throw new TooManyFilesError(`The workspace has more than ${limits.entries} entries.`);
    }
    found.push(entry);
  }
  return found;
}

/** The whole content of a file of a workspace; `undefined` when it is none, is gone, or has more than `maxBytes`. */
export async function readWhole(
  workspace: string,
  path: string,
  maxBytes: number,
): Promise<{ content: Buffer; isExecutable: boolean } | undefined> {
  const file = await open(join(workspace, path), openFlags).catch(() => undefined);
  try {
    const facts = await file?.stat();
    if (!file || !facts?.isFile() || facts.size > maxBytes || !(await isWithin(workspace, file))) {
      return undefined;
    }
    const buffer = Buffer.alloc(Math.min(facts.size + 1, maxBytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { content: buffer.subarray(0, bytesRead), isExecutable: (facts.mode & 0o100) !== 0 };
  } finally {
    await file?.close();
  }
}

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether what was opened is in the workspace: a directory on its path may have become a link. */
async function isWithin(workspace: string, file: FileHandle): Promise<boolean> {
  return (await realpath(`/proc/self/fd/${file.fd}`).catch(() => '')).startsWith(workspace + sep);
}

/**
 * Reads a file of a workspace whose commands may change it meanwhile: what was opened is read only when it is in the workspace.
 *
 * @param workspace without links
 */
export async function readWorkspaceFile(workspace: string, path: string): Promise<FileContents> {
  let file: FileHandle;
  try {
    file = await open(join(workspace, path), openFlags);
  } catch (error) {
    return { contents: '', omitted: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'no-file' };
  }
  try {
    const facts = await file.stat();
    if (!facts.isFile() || !(await isWithin(workspace, file))) {
      return { contents: '', omitted: 'no-file' };
    }
    if (facts.size > limits.bytes) {
      return { contents: '', omitted: 'too-large' };
    }
    const buffer = Buffer.alloc(limits.bytes);
    const { bytesRead } = await file.read(buffer, 0, limits.bytes, 0);
    return textOf(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function textOf(bytes: Buffer): FileContents {
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text).equals(bytes)
    ? { contents: '', omitted: 'binary' }
    : { contents: text };
}
