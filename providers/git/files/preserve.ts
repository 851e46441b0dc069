import type { Baseline } from '../checkpoints/baseline';
import { autostashes } from '../operation-state';
import { attemptRef, baselineRef } from '../refs/names';
import { setRef } from '../refs/set-ref';
import type { GitRunner } from '../run-git';
import { relocateWorktree } from '../worktrees/worktree-location';
import { createSnapshotCommit } from './snapshot-commit';
import { type CommitFacts, readCommit, writeWorktreeTree } from './trees';

/** A trailer of a baseline's snapshot, about the state it was taken of. */
function trailer(commit: CommitFacts | undefined, name: string): string | undefined {
  return new RegExp(`^${name}: (.+)$`, 'm').exec(commit?.message ?? '')?.[1];
}

/**
 * Stores everything an attempt left, commits, changes and untracked files but not ignored ones, as one commit under
 * `refs/board/attempts/<attemptId>`. Its first parent is HEAD; the tip of the branch the attempt began on and changes
 * an unfinished rebase or merge has put away are further parents when HEAD does not lead to them. The worktree is not
 * touched. A stored commit is never replaced: a restore that was interrupted must not pass for the attempt's work.
 *
 * @param baseline with it, a `.git` that the agent removed is restored first
 * @returns `undefined` when nothing differs from the attempt's baseline
 */
export async function preserveAttempt(
  git: GitRunner,
  { worktreePath, attemptId, baseline }: { worktreePath: string; attemptId: string; baseline?: Baseline },
): Promise<{ ref: string; commit: string } | undefined> {
  const ref = attemptRef(attemptId);
  const location = await relocateWorktree(git, {
    worktreePath,
    gitDir: baseline?.gitDir,
    identity: baseline?.identity,
  });
  const cwd = location.path;
  const preserved = await readCommit(git, cwd, ref);
  if (preserved) {
    return { ref, commit: preserved.sha };
  }

  const began = await readCommit(git, cwd, baselineRef(attemptId));
  const head = await readCommit(git, cwd, 'HEAD');
  const branch = trailer(began, 'Board-Branch');
  const tip = branch === undefined ? undefined : await readCommit(git, cwd, `refs/heads/${branch}`);
  const stashed = await autostashes(location.gitDir);
  const tree = await writeWorktreeTree(git, location);

  const baseHead = trailer(began, 'Board-Head');
  const same = [head, tip ?? head].every((commit) => commit?.sha === baseHead);
  if (tree === began?.tree && same && stashed.length === 0) {
    return undefined;
  }

  const others = [...(tip ? [tip.sha] : []), ...stashed];
  const commit = await createSnapshotCommit(git, cwd, { head, tree, others, message: `What ${attemptId} left\n` });
  await setRef(git, cwd, { ref, sha: commit, expected: null });
  return { ref, commit };
}
