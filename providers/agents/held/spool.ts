import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the agent ended, as its holder wrote it down. */
export interface HeldExit {
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
  /** Ids of questions that were answered. */
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
  answered: join(path, 'answered'),
  exit: join(path, 'exit'),
});

/** How much of the end of a stream is stored when it was longer than its limit: the result is there. */
export const lastBytes = 65_536;

/** What of a stream was dropped: nothing, or what came after its first bytes and before its last lines. */
export type Dropped = undefined | { afterBytes: number; last: Buffer };

/** To be asked when nothing is left that could write to the stream. */
export async function droppedOf(path: string): Promise<Dropped> {
  if (!(await exists(`${path}.dropped`))) return undefined;
  const [{ size }, last] = await Promise.all([stat(path), readFile(`${path}.last`).catch(() => Buffer.alloc(0))]);
  // It begins in the middle of a line.
  return { afterBytes: size, last: last.subarray(last.indexOf('\n') + 1) };
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

/** Removes everything that was kept of an agent whose end is recorded. */
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

/** The text of a file; `undefined` when there is none. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });

/** At once, so that nothing happens between this and what follows it. */
export const mark = (path: string): void => writeFileSync(path, '', { mode: 0o600 });
export const unmark = (path: string): void => rmSync(path, { force: true });
