import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { extname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { type ArtifactKind, artifactKind, artifactLimits, type CapturedOutput } from '../../contracts/runs/output';
import { binary, json, plainText } from '../../domain/events/output-artifact';
import { createRedactor } from '../../platform/log/redact';
import { verifyDirectory } from '../git/worktrees/verify-worktree';
import type { RecordedWorktree } from '../git/worktrees/worktree-location';

export type CapturedFile = Pick<CapturedOutput, 'kind' | 'mediaType' | 'originalBytes' | 'truncated' | 'body'> & {
  name: string;
};

/** Reads the file of an `artifact {path, kind?}` report; a problem is a sentence for a person. */
export type CaptureFile = (report: Record<string, unknown>) => Promise<CapturedFile | { problem: string }>;

/**
 * Captures files of a worktree: regular files inside it, up to a size, without the secrets in them. An agent that swaps
 * a folder for a link while its file is opened gains nothing: what counts is where the opened file is.
 *
 * @param secrets values that are hidden, besides the shapes of secrets
 */
export function createCaptureFile(worktree: RecordedWorktree, secrets: readonly string[]): CaptureFile {
  const { worktreePath: root, identity } = worktree;
  const redactText = createRedactor(secrets);
  const redactBytes = createRedactor(secrets.map((secret) => Buffer.from(secret, 'utf8').toString('latin1')));

  return async ({ path, kind }) => {
    if (typeof path !== 'string' || path === '' || path.includes('\0')) {
      return { problem: 'The path is invalid.' };
    }
    try {
      if (!verifyDirectory(root, identity)) {
        return { problem: 'The worktree no longer exists.' };
      }
    } catch {
      return { problem: 'The worktree is not the one that was recorded.' };
    }
    const absolutePath = normalize(isAbsolute(path) ? path : join(root, path));
    let handle: FileHandle;
    try {
      // Neither a link at the end nor a pipe without a writer.
      handle = await open(absolutePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      return { problem: problemOf(error) };
    }
    try {
      const name = relative(root, await pathOf(handle, absolutePath));
      if (name === '' || name.startsWith('..') || isAbsolute(name)) {
        return { problem: 'The file is outside the worktree.' };
      }
      if (name.split(sep).includes('.git')) {
        return { problem: 'Files of git are not artifacts.' };
      }
      const facts = await handle.stat();
      if (!facts.isFile()) {
        return { problem: 'It is not a regular file.' };
      }
      if (facts.size > artifactLimits.fileBytes) {
        return { problem: `It has ${facts.size} bytes; the limit is ${artifactLimits.fileBytes}.` };
      }
      return { name, kind: kindOf(kind), ...clean(await readUpTo(handle, artifactLimits.fileBytes), name) };
    } finally {
      await handle.close();
    }
  };

  function clean(content: Buffer, name: string): Omit<CapturedFile, 'kind' | 'name'> {
    const text = textOf(content);
    const mediaType = text === undefined ? binary : extname(name) === '.json' ? json : plainText;
    const body =
      text === undefined
        ? Buffer.from(redactBytes(content.toString('latin1')), 'latin1')
        : Buffer.from(redactText(text), 'utf8');
    return { mediaType, body, originalBytes: content.length, truncated: false };
  }
}

const kindOf = (kind: unknown): ArtifactKind => {
  const parsedKind = artifactKind.exclude(['stdout', 'stderr', 'payload']).safeParse(kind ?? 'file');
  return parsedKind.success ? parsedKind.data : 'other';
};

/** The real path of an open file, whatever its path is by now; only Linux reports that of the open file itself. */
const pathOf = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path);

/** The file may grow while it is read. */
async function readUpTo(handle: FileHandle, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of handle.createReadStream({ end: most - 1, autoClose: false })) {
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

function textOf(content: Buffer): string | undefined {
  if (content.includes(0)) {
    return undefined;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

function problemOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'The file does not exist.';
    case 'ELOOP':
      return 'It is a symbolic link.';
    case 'EACCES':
      return 'Reading it is not permitted.';
    default:
      return 'It cannot be opened.';
  }
}
