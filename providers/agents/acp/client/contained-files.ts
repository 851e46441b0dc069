import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { asOperator } from '../../../../platform/processes/operator-umask';
import { verifyDirectory } from '../../../git/worktrees/verify-worktree';
import type { RecordedWorktree } from '../../../git/worktrees/worktree-location';
import type { AgentUser } from '../../user/agent-user';

/** The longest file that is read or written for an agent, in bytes: it has to fit into a message. */
export const longestFile = 3_145_728;

/** What an agent asked for cannot be had; the message is a sentence for it. */
export class ContainedFileError extends Error {
  override readonly name = 'ContainedFileError';

  constructor(
    message: string,
    /** Whether there is nothing at that path. */
    readonly isAbsent = false,
  ) {
    super(message);
  }
}

/** Only Linux can open a file relative to a directory handle. */
export const canContainFiles = process.platform === 'linux';

/**
 * A path of an agent relative to its worktree, with `/` between its parts; `null` when it lies elsewhere, or is git's own.
 * Where it leads is found out when it is opened.
 */
export function pathInWorktree(root: string, path: string): string | null {
  if (!isAbsolute(path) || path.includes('\0') || path.split(sep).includes('..')) {
    return null;
  }
  const inside = relative(root, path);
  const parts = inside.split(sep);
  if (inside === '' || parts[0] === '..' || parts.some((part) => /^\.git[ .]*$/i.test(part))) {
    return null;
  }
  return parts.join('/');
}

/** Files of one worktree, and no others: no symbolic link on the way is followed, however fast an agent makes one. */
export class ContainedFiles {
  /** @param user who the files of the worktree belong to while the agent works; this process's user when absent */
  constructor(
    private readonly worktree: RecordedWorktree,
    private readonly user?: AgentUser,
  ) {}

  /** The text of a file. @param path relative, as `pathInWorktree` gives it @throws ContainedFileError */
  async read(path: string): Promise<string> {
    return this.within(path, false, async (name) => {
      const file = await open(name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const facts = await file.stat();
        if (!facts.isFile()) {
          throw new ContainedFileError(`${path} is not a regular file.`);
        }
        if (facts.size > longestFile) {
          throw new ContainedFileError(`${path} has ${facts.size} bytes, more than the ${longestFile} that are read.`);
        }
        const { buffer, bytesRead } = await file.read(Buffer.alloc(longestFile), 0, longestFile, 0);
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await file.close();
      }
    });
  }

  /** Writes a file, with the directories it is in. @returns whether it is new @throws ContainedFileError */
  async write(path: string, content: string): Promise<'added' | 'modified'> {
    if (Buffer.byteLength(content) > longestFile) {
      throw new ContainedFileError(`More than ${longestFile} bytes are not written at once.`);
    }
    return this.within(path, true, async (name) => {
      const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
      const existing = await open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK).catch(orAbsent);
      const file = existing ?? (await asOperator(() => open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)));
      try {
        const facts = await file.stat();
        if (!facts.isFile()) {
          throw new ContainedFileError(`${path} is not a regular file.`);
        }
        // Written through another name, it might be a file outside.
        if (facts.nlink > 1) {
          throw new ContainedFileError(`${path} has several hard links and is not written.`);
        }
        if (!existing) {
          await this.give(file);
        }
        await file.truncate(0);
        await file.writeFile(content);
        return existing ? 'modified' : 'added';
      } finally {
        await file.close();
      }
    });
  }

  /** The real path of a directory of the worktree; of the worktree itself when `path` is absent. @throws ContainedFileError */
  async directory(path?: string): Promise<string> {
    const { worktreePath } = this.worktree;
    if (path === undefined) {
      await (await this.root()).close();
      return worktreePath;
    }
    return this.within(`${path}/.`, false, () => Promise.resolve(`${worktreePath}/${path}`));
  }

  private async root(): Promise<FileHandle> {
    const { worktreePath, identity } = this.worktree;
    try {
      if (verifyDirectory(worktreePath, identity)) {
        return await openDirectory(worktreePath);
      }
    } catch {
      // The error that follows does not depend on which of them it is.
    }
    throw new ContainedFileError('The worktree is not the one that was recorded.');
  }

  /** Works on the last part of a path by its name in the directory, whose handle is open meanwhile. */
  private async within<T>(path: string, create: boolean, work: (name: string) => Promise<T>): Promise<T> {
    const parts = path.split('/');
    const last = parts.pop() ?? '';
    let directory = await this.root();
    try {
      for (const part of parts) {
        const next = await this.enter(directory, part, create);
        await directory.close();
        directory = next;
      }
      return await work(nameIn(directory, last));
    } catch (error) {
      if (error instanceof ContainedFileError) {
        throw error;
      }
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      throw new ContainedFileError(`${path} ${problemOf(error)}`, isAbsent);
    } finally {
      await directory.close();
    }
  }

  private async enter(directory: FileHandle, part: string, create: boolean): Promise<FileHandle> {
    const name = nameIn(directory, part);
    try {
      return await openDirectory(name);
    } catch (error) {
      if (!create || (error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
    await asOperator(() => mkdir(name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    });
    const made = await openDirectory(name);
    await this.give(made);
    return made;
  }

  private async give(file: FileHandle): Promise<void> {
    if (this.user) {
      await file.chown(this.user.uid, this.user.gid);
    }
  }
}

const openDirectory = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

/** What is called so in a directory, whatever the directory itself is called by now. */
const nameIn = (directory: FileHandle, name: string): string => `/proc/self/fd/${directory.fd}/${name}`;

function orAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
    throw error;
  }
}

function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'does not exist.';
    case 'ELOOP':
    case 'ENOTDIR':
      return 'leads through a symbolic link, or a file that is no directory.';
    case 'EACCES':
    case 'EPERM':
      return 'may not be used.';
    case 'ENOSPC':
      return 'cannot be written: there is no space left.';
    default:
      return `cannot be used: ${code ?? message}`;
  }
}
