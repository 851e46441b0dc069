import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the agent ended, as its holder wrote it down. */
export interface RecordedExit {
  exitCode: number | null;
  signal: string | null;
}

/** The directory of one attempt whose agent outlives its worker: readable by its owner only. */
export interface Spool {
  path: string;
  /** What the agent writes, and what it reads. */
  out: string;
  err: string;
  in: string;
  /** There once the agent has its streams. */
  begun: string;
  /** Names the task and the secrets the agent was given, by a digest. Gone once the agent is being ended from here. */
  binding: string;
  /** There while a part of a line for the agent may be known to one worker only. */
  torn: string;
  /** What `torn` is called at all other times. */
  whole: string;
  /** Ids of questions that have a response. */
  answered: string;
  exit: string;
}

export const spoolIn = (path: string): Spool => ({
  path,
  out: join(path, 'out'),
  err: join(path, 'err'),
  in: join(path, 'in'),
  begun: join(path, 'begun'),
  binding: join(path, 'binding'),
  torn: join(path, 'torn'),
  whole: join(path, 'whole'),
  answered: join(path, 'answered'),
  exit: join(path, 'exit'),
});

/** How much of the end of a stream is stored beside it: the result is there, also of one that was longer than its limit. */
export const lastBytes = 65_536;

/** What of a stream was dropped: nothing, or what came after its first bytes and before its last lines. */
export type Dropped = undefined | { afterBytes: number; last: Buffer };

/** To be asked when nothing is left that could write to the stream. */
export async function droppedOf(path: string): Promise<Dropped> {
  const dropped = await readDropped(path);
  if (!dropped || dropped.bytes === dropped.last.length) {
    return undefined;
  }
  // It begins in the middle of a line.
  return { afterBytes: dropped.afterBytes, last: dropped.last.subarray(dropped.last.indexOf('\n') + 1) };
}

/** What follows what is stored of the stream, when all of that is known. To be asked as `droppedOf`. */
export async function restOf(path: string): Promise<Buffer | undefined> {
  const dropped = await readDropped(path);
  return dropped && dropped.bytes === dropped.last.length ? dropped.last : undefined;
}

/** What did not fit in the file of the stream: how much, as far as that is known, and the last of it. */
async function readDropped(
  path: string,
): Promise<undefined | { afterBytes: number; bytes: number | undefined; last: Buffer }> {
  const marker = await bytesIfThere(`${path}.dropped`);
  // The file exists before output is dropped. An earlier version marked dropped output by an empty one.
  if (!marker || marker[0] === 0) {
    return undefined;
  }
  const [{ size: afterBytes }, last, total] = await Promise.all([
    stat(path),
    bytesIfThere(`${path}.last`),
    bytesIfThere(`${path}.total`),
  ]);
  const count = Number.parseInt(total?.toString('latin1') ?? '', 10);
  const written = last ?? Buffer.alloc(0);
  if (Number.isNaN(count)) {
    return { afterBytes, bytes: undefined, last: total ? Buffer.alloc(0) : written };
  }
  const bytes = count - afterBytes;
  // Its end may be the space that was taken for it.
  const stored = written.subarray(0, Math.min(count, lastBytes));
  return { afterBytes, bytes, last: stored.subarray(Math.max(0, stored.length - bytes)) };
}

const ownerOnly = { mode: 0o600, flag: 'wx' } as const;

/** Makes the directory of an attempt that has none yet. @throws the system's error */
export async function createSpool(path: string, binding: string): Promise<Spool> {
  const spool = spoolIn(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await Promise.all([spool.out, spool.err, spool.answered, spool.torn].map((file) => writeFile(file, '', ownerOnly)));
  await writeFile(spool.binding, binding, ownerOnly);
  return spool;
}

/** Removes all files of an agent whose end is recorded. */
export const removeSpool = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

/** What an agent is bound to: the document it was given and the secrets in its environment, which may be in no file. */
export const bindingOf = (json: string, secrets: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([json, ...secrets]))
    .digest('hex');

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const bytesIfThere = (path: string): Promise<Buffer | undefined> =>
  readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  });

/** The text of a file; `undefined` when there is none. */
export const readIfThere = async (path: string): Promise<string | undefined> =>
  (await bytesIfThere(path))?.toString('utf8');

/**
 * Records that a line may be torn from now on; at once, so that nothing happens between this and the line. The mark is a name
 * of a file that is always there: changing the name takes no space of a disk that may be full.
 *
 * @throws the system's error
 */
export function markTorn({ torn, whole }: Spool): void {
  try {
    renameSync(whole, torn);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
    // The spool of an earlier version has no file to rename.
    writeFileSync(torn, '', { mode: 0o600 });
  }
}

/** Takes the mark back, if it is there. @throws the system's error */
export function unmarkTorn({ torn, whole }: Spool): void {
  try {
    renameSync(torn, whole);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}

/** Removes the binding, at once. @throws the system's error */
export const unbind = ({ binding }: Spool): void => rmSync(binding, { force: true });
