import type { GitRunner } from '../run-git';
import { removeOldest } from '../settings/remove-oldest';
import type { CommitFacts } from './trees';

/** What the commits that follow a commit are made of. */
export type CommitHead = Pick<CommitFacts, 'sha' | 'tree' | 'date'>;

/** The most commits that are remembered. */
const most = 1_000;

/** By repository and name: what a commit holds never changes. */
const commits = new Map<string, CommitHead>();

const keyOf = (git: GitRunner, cwd: string, sha: string): string => `${sha} ${git.repositories.place(cwd).commonDir}`;

export function rememberCommit(git: GitRunner, cwd: string, { sha, tree, date }: CommitHead): void {
  const key = keyOf(git, cwd, sha);
  commits.delete(key);
  commits.set(key, { sha, tree, date });
  removeOldest(commits, most);
}

/** A commit that was read or made lately; it may have been removed since, which git finds where it is used. */
export const rememberedCommit = (git: GitRunner, cwd: string, sha: string): CommitHead | undefined =>
  commits.get(keyOf(git, cwd, sha));
