import { isAncestor } from '../refs/ancestry';
import type { GitRunner } from '../run-git';
import { type CommitFacts, commitTree } from './trees';

/**
 * Makes one commit that leads to everything: its tree holds the files, its first parent is HEAD, and `others` are further
 * parents unless they are reached already. When HEAD alone suffices, that is the commit.
 */
export async function createSnapshotCommit(
  git: GitRunner,
  cwd: string,
  {
    head,
    tree,
    others,
    message,
  }: { head: CommitFacts | undefined; tree: string; others: readonly string[]; message: string },
): Promise<string> {
  const parents = head ? [head.sha] : [];
  for (const sha of others) {
    const reached = await Promise.all(
      parents.map((parent) => isAncestor(git, cwd, { ancestor: sha, descendant: parent })),
    );
    if (!reached.includes(true)) {
      parents.push(sha);
    }
  }
  if (head?.tree === tree && parents.length === 1) {
    return head.sha;
  }
  return commitTree(git, cwd, { tree, parents, message, date: head?.date ?? 0 });
}
