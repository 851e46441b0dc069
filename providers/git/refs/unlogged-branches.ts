import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isBranchName } from '../../../contracts/common';
import { lentFile } from '../../sandbox/lent-branch';

/** A branch that was moved or removed by something that does not write git's log of it. */
export interface UnloggedBranch {
  name: string;
  /** Where the log has it. */
  logged: string;
  /** Where it is; `null` when it is gone. */
  actual: string | null;
}

/** Git writes the log of a branch a moment before the branch. */
const settledAfterMs = 100;
const tailBytes = 8_192;
const id = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The branches that are elsewhere than their logs have them. An agent in a sandbox can write files of branches that were made
 * beside its own after it began, and no log but that of its own branch: git writes both.
 *
 * @param commonDir the directory of the repository
 * @param names of branches; those without a log are not judged
 */
export async function unloggedBranches(commonDir: string, names: Iterable<string>): Promise<UnloggedBranch[]> {
  const found: UnloggedBranch[] = [];
  for (const name of names) {
    if (isBranchName(name) && (await judge(commonDir, name))) {
      await delay(settledAfterMs);
      const settled = await judge(commonDir, name);
      found.push(...(settled ? [settled] : []));
    }
  }
  return found;
}

async function judge(commonDir: string, name: string): Promise<UnloggedBranch | undefined> {
  const ref = `refs/heads/${name}`;
  const line = (await tailOf(join(commonDir, 'logs', ref))).trimEnd().split('\n').at(-1) ?? '';
  const [, logged = ''] = line.split(' ', 2);
  if (!id.test(logged)) {
    return undefined;
  }
  const loose = (await tailOf((await lentFile(commonDir, name)) ?? join(commonDir, ref))).trim();
  const actual = id.test(loose) ? loose : loose === '' ? await packed(commonDir, ref) : loose.slice(0, 200);
  return actual === logged ? undefined : { name, logged, actual };
}

async function packed(commonDir: string, ref: string): Promise<string | null> {
  const text = await readFile(join(commonDir, 'packed-refs'), 'utf8').catch(() => '');
  const line = text.split('\n').find((one) => one.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
}

/** The end of a file, which may have been replaced by a link or a pipe; empty where there is none to read. */
async function tailOf(path: string): Promise<string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (!file) {
    return '';
  }
  try {
    const facts = await file.stat();
    const length = facts.isFile() ? Math.min(facts.size, tailBytes) : 0;
    const buffer = Buffer.alloc(length);
    const { bytesRead } = length === 0 ? { bytesRead: 0 } : await file.read(buffer, 0, length, facts.size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
