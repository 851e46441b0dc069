import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Files and directories of a worktree's git directory that exist only while an operation is unfinished. */
const unfinished = {
  merge: ['MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE', 'MERGE_RR', 'MERGE_AUTOSTASH', 'AUTO_MERGE', 'SQUASH_MSG'],
  'cherry-pick': ['CHERRY_PICK_HEAD'],
  revert: ['REVERT_HEAD'],
  rebase: ['rebase-merge', 'rebase-apply', 'REBASE_HEAD'],
  sequence: ['sequencer'],
  bisect: ['BISECT_LOG', 'BISECT_START', 'BISECT_NAMES', 'BISECT_TERMS', 'BISECT_RUN', 'BISECT_EXPECTED_REV'],
} as const;

/** The files that prove an operation in progress; the others may be left over from one that ended well. */
const markers: readonly (readonly [string, string])[] = [
  ['merge', 'MERGE_HEAD'],
  ['cherry-pick', 'CHERRY_PICK_HEAD'],
  ['revert', 'REVERT_HEAD'],
  ['rebase', 'rebase-merge'],
  ['rebase', 'rebase-apply'],
];

/** The operation that is unfinished in a worktree, if any. */
export const unfinishedOperation = (gitDir: string): string | undefined =>
  markers.find(([, marker]) => existsSync(join(gitDir, marker)))?.[0];

const firstLine = async (paths: readonly string[]): Promise<string | undefined> => {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text !== '') {
      return text.split('\n')[0];
    }
  }
  return undefined;
};

const inRebase = (gitDir: string, name: string): Promise<string | undefined> =>
  firstLine([join(gitDir, 'rebase-merge', name), join(gitDir, 'rebase-apply', name)]);

/** The branch an unfinished rebase comes back to. */
export async function rebasedBranch(gitDir: string): Promise<string | undefined> {
  const ref = await inRebase(gitDir, 'head-name');
  return ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
}

/** The commit an unfinished rebase began at; also unknown when it was killed before it wrote that down. */
export const rebasedHead = (gitDir: string): Promise<string | undefined> => inRebase(gitDir, 'orig-head');

/** Forgets unfinished operations; HEAD, index and files stay as they are. */
export async function forgetOperations(gitDir: string): Promise<void> {
  const names = Object.values(unfinished).flat();
  await Promise.all(names.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
}

/** Commits in which an unfinished operation has put changes away; no reference leads to them. */
export async function autostashes(gitDir: string): Promise<string[]> {
  const places = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash'];
  const texts = await Promise.all(places.map((place) => readFile(join(gitDir, place), 'utf8').catch(() => '')));
  return texts.map((text) => text.trim()).filter((text) => /^[0-9a-f]{40,64}$/.test(text));
}
