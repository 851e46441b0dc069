import { findByEnvironment } from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';
import { checkOut, restoreHead } from '../checkpoints/restore';
import { forgetOperations } from '../operation-state';
import { gitFields, type GitRunner } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import { verifyStill, type WorktreeLocation } from '../worktrees/worktree-location';

/** Marks git processes of a rebase, so that one whose worker died is found. */
const operationVariable = 'BOARD_GIT_OPERATION';

/** Many commits, or large ones, take their time. */
const rebaseTimeoutMs = 10 * 60_000;

/** Settings of a repository that would make a rebase do something else, or more. */
const plainRebase = [
  'rebase.autoStash=false',
  'rebase.autoSquash=false',
  'rebase.updateRefs=false',
  'rebase.rebaseMerges=false',
  'rebase.missingCommitsCheck=ignore',
  'rebase.stat=false',
  'rerere.enabled=false',
];

/** Runs git's rebase of a branch. `ref` marks its processes; `range` is what it is given. */
export async function runRebase(
  git: GitRunner,
  cwd: string,
  { ref, range, env = {} }: { ref: string; range: readonly string[]; env?: Record<string, string> },
): Promise<void> {
  await git(['rebase', '--quiet', '--merge', '--no-fork-point', ...range], {
    cwd,
    env: { ...env, [operationVariable]: ref },
    config: plainRebase,
    timeoutMs: rebaseTimeoutMs,
  });
}

/** Ends rebases whose worker died. */
export const endRebases = async (ref: string): Promise<void> =>
  endProcess(await findByEnvironment(operationVariable, ref), { graceMs: 0 });

/**
 * Resets a worktree that was clean to a commit of its branch. The mark of the unfinished rebase is removed last: killed
 * before that, the next call finds it and does it again.
 */
export async function putBack(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, headSha }: { branch: string; headSha: string },
): Promise<void> {
  const { path: cwd } = location;
  verifyStill(location);
  await git.verify();
  await clearStaleLocks(location, branch, git);
  await restoreHead(git, cwd, { branch, headSha });
  await checkOut(git, location, headSha);
  verifyStill(location);
  await git(['clean', '-fdq'], { cwd });
  await git.verify();
  await forgetOperations(location.gitDir);
}

export async function conflictingPaths(git: GitRunner, cwd: string): Promise<string[]> {
  const records = await gitFields(git, ['ls-files', '--unmerged', '-z'], { cwd });
  return [...new Set(records.map((record) => record.slice(record.indexOf('\t') + 1)))];
}
