import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type DocContent, docExtension, type DocFile, docLimits, docPath } from '../../contracts/knowledge/doc';
import { AppError, conflict, notFound } from '../../platform/errors/app-error';
import { namingFullDisk } from '../../platform/errors/disk-full';
import { syncPath } from '../../platform/processes/disk/sync-path';

export interface ListedDocs {
  files: DocFile[];
  truncated: boolean;
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
const factsOf = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((error: unknown) => {
    if (isAbsent(error)) {
      return undefined;
    }
    throw error;
  });

export const digestOfDoc = (content: string | Buffer): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

const outside = (path: string): AppError =>
  conflict(`${path} leads through a symbolic link, or is no regular file of its own.`, { path });

const describe = (path: string, facts: Stats): DocFile => ({
  path,
  name: basename(path),
  size: facts.size,
  modified: facts.mtime.toISOString(),
  created: facts.birthtime.toISOString(),
  extension: docExtension.parse(path.split('.').at(-1)),
  directory: path.includes('/') ? dirname(path) : '',
});

const draftName = /^\.[0-9a-f]{18}\.tmp$/;

/** Removes what a process that died has left unfinished: there is one writer at a time. */
async function removeDrafts(directory: string): Promise<void> {
  for (const name of (await readdir(directory)).filter((entry) => draftName.test(entry))) {
    await rm(join(directory, name), { force: true });
  }
}

/**
 * Documents as files below one directory, and nothing outside of it: symbolic links are neither listed nor followed, names are
 * those of the contract, and what has several hard links may be a file elsewhere.
 */
export function createDocStore(root: string) {
  /** The real directory, which an operator may have linked here. */
  async function realRoot(): Promise<string> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    return realpath(root);
  }

  /** The directory of a path, each of its parts a directory itself. @throws AppError 404, 409 */
  async function directoryOf(path: string, create: boolean): Promise<string> {
    if (!docPath.safeParse(path).success) {
      throw outside(path);
    }
    let directory = await realRoot();
    for (const part of path.split('/').slice(0, -1)) {
      directory = join(directory, part);
      if (create) {
        await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
            throw error;
          }
        });
      }
      const facts = await factsOf(directory);
      if (!facts) {
        throw notFound('document', path);
      }
      if (!facts.isDirectory()) {
        throw outside(path);
      }
    }
    return directory;
  }

  /** Opens a file, and makes sure that what was opened is the file at that path. @throws AppError 404, 409, 413 */
  async function read(path: string): Promise<DocContent> {
    const directory = await directoryOf(path, false);
    const name = join(directory, basename(path));
    let file: FileHandle;
    try {
      file = await open(name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      throw isAbsent(error) ? notFound('document', path) : outside(path);
    }
    try {
      const facts = await file.stat();
      const seen = await factsOf(name);
      const isSame = seen?.ino === facts.ino && seen.dev === facts.dev && (await realpath(directory)) === directory;
      if (!isSame || !facts.isFile() || facts.nlink > 1) {
        throw outside(path);
      }
      if (facts.size > docLimits.fileBytes) {
        throw new AppError('PAYLOAD_TOO_LARGE', {
          status: 413,
          message: `${path} has ${facts.size} bytes, more than the ${docLimits.fileBytes} that are read.`,
        });
      }
      const { buffer, bytesRead } = await file.read(Buffer.alloc(docLimits.fileBytes), 0, docLimits.fileBytes, 0);
      const bytes = buffer.subarray(0, bytesRead);
      const content = bytes.toString('utf8');
      if (!Buffer.from(content).equals(bytes)) {
        throw conflict(`${path} is not UTF-8 text.`, { path });
      }
      return { ...describe(path, facts), content, digest: digestOfDoc(bytes) };
    } finally {
      await file.close();
    }
  }

  async function list(): Promise<ListedDocs> {
    const files: DocFile[] = [];
    const directories = [''];
    const top = await realRoot();
    for (const directory of directories) {
      const entries = await readdir(join(top, directory), { withFileTypes: true }).catch(() => []);
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
        if (entry.isDirectory() && docPath.safeParse(`${path}/a.md`).success) {
          directories.push(path);
        } else if (entry.isFile() && docPath.safeParse(path).success) {
          if (files.length === docLimits.files) {
            return { files, truncated: true };
          }
          const facts = await factsOf(join(top, path));
          files.push(...(facts?.isFile() && facts.nlink === 1 ? [describe(path, facts)] : []));
        }
      }
    }
    return { files, truncated: false };
  }

  /** @throws AppError 409 when the file is not the one that the writer has seen */
  async function assertSeen(path: string, expected: string | null | undefined): Promise<DocContent | undefined> {
    const current = await read(path).catch((error: unknown) => {
      if (error instanceof AppError && error.status === 404) {
        return undefined;
      }
      throw error;
    });
    if (expected !== undefined && expected !== (current?.digest ?? null)) {
      throw conflict('It has changed since it was read. Read it again.', {
        resourceType: 'document',
        resourceId: path,
        expectedDigest: expected,
        currentDigest: current?.digest ?? null,
      });
    }
    return current;
  }

  return {
    list,
    read,

    /** Replaces a file as a whole, one writer at a time: after a crash the old or the new one is there. @throws AppError 409, 413 */
    async write(path: string, content: string, expected?: string | null): Promise<{ isNew: boolean }> {
      const current = await assertSeen(path, expected);
      const { files, truncated } = await list();
      const bytes = files.reduce((sum, { size }) => sum + size, Buffer.byteLength(content) - (current?.size ?? 0));
      const isFull = truncated || files.length >= docLimits.files;
      if ((!current && isFull) || bytes > docLimits.totalBytes) {
        const { files: maxFiles, totalBytes } = docLimits;
        throw conflict(`There may be ${maxFiles} documents of ${totalBytes} bytes together.`, { maxFiles, totalBytes });
      }
      const directory = await directoryOf(path, true);
      await removeDrafts(directory);
      const draft = join(directory, `.${randomBytes(9).toString('hex')}.tmp`);
      await namingFullDisk('the documents', async () => {
        try {
          const file = await open(draft, 'wx', 0o600);
          try {
            await file.writeFile(content);
            await file.sync();
          } finally {
            await file.close();
          }
          await rename(draft, join(directory, basename(path)));
          await syncPath(directory);
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
      });
      return { isNew: !current };
    },

    /** @throws AppError 404, 409 */
    async remove(path: string): Promise<void> {
      await read(path);
      const directory = await directoryOf(path, false);
      await rm(join(directory, basename(path)));
      await syncPath(directory);
    },
  };
}
export type DocStore = ReturnType<typeof createDocStore>;
