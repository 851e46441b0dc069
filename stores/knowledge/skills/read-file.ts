import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type SkillFile, skillLimits } from '../../../domain/skills/content';

/** A file as it was read, with a digest of what it is. */
export interface ReadFile {
  file: SkillFile;
  digest: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const sha256 = (...parts: (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  parts.forEach((part) => hash.update(part).update('\0'));
  return hash.digest('hex');
};

/** Whether what was opened is where it was looked for: a directory on the way may have been replaced by a link meanwhile. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (opened !== undefined) {
    return opened === path;
  }
  // Where the system does not say what is open.
  return join(await realpath(dirname(path)), basename(path)) === path;
}

/** The first bytes of a file, one more than a file may have. */
async function firstBytes(handle: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(skillLimits.fileBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) {
      break;
    }
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function textOf(content: Buffer): string | undefined {
  if (content.includes(0)) {
    return undefined;
  }
  try {
    return utf8.decode(content);
  } catch {
    return undefined;
  }
}

/**
 * Reads one file of a skill. Links are not followed, devices and pipes are not opened for longer than it takes to see what they
 * are, and of a large file only as much is read as shows that it is.
 *
 * @param at.absolute a real path: no directory on the way is a link
 */
export async function readSkillFile(at: { absolute: string; path: string }): Promise<ReadFile> {
  const { absolute, path } = at;
  const unreadable = (reason: string): ReadFile => ({
    file: { path, kind: 'unreadable', bytes: 0 },
    digest: sha256('unreadable', reason),
  });
  let handle: FileHandle | undefined;
  try {
    const before = await lstat(absolute);
    if (before.isSymbolicLink()) {
      const target = (await readlink(absolute)).slice(0, 1_000);
      return { file: { path, kind: 'symbolic-link', bytes: 0, target }, digest: sha256('link', target) };
    }
    if (!before.isFile()) {
      return { file: { path, kind: 'special', bytes: 0 }, digest: sha256('special') };
    }
    handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, mtimeMs, ino } = await handle.stat();
    if (!(await isAt(handle, absolute))) {
      return unreadable('moved');
    }
    const content = await firstBytes(handle);
    if (content.length > skillLimits.fileBytes) {
      return {
        file: { path, kind: 'too-large', bytes: size },
        digest: sha256('too-large', String(size), String(mtimeMs), String(ino), content),
      };
    }
    const text = textOf(content);
    return {
      file: {
        path,
        kind: text === undefined ? 'binary' : 'text',
        bytes: content.length,
        ...(text !== undefined && { text }),
      },
      digest: sha256('file', content),
    };
  } catch (error) {
    return unreadable((error as NodeJS.ErrnoException).code ?? 'error');
  } finally {
    await handle?.close();
  }
}
