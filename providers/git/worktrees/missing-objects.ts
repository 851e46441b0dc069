import type { Baseline } from '../checkpoints/baseline';
import { GitError, type GitErrorCode } from '../git-error';
import type { GitRunner } from '../run-git';
import { relocateWorktree } from './worktree-location';

/** What git reports where objects are gone, among other things. */
const ambiguous: readonly GitErrorCode[] = ['failed', 'unknown-ref', 'not-a-repository'];

/**
 * Does work in the worktree of an attempt, and reports `repository-damaged` when it failed because commits of the attempt are
 * gone: no repetition helps then. Asked only after a failure, which saves the process.
 */
export async function reportingMissingObjects<T>(
  git: GitRunner,
  at: { worktreePath: string; baseline?: Baseline },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitError) || !ambiguous.includes(error.code) || !at.baseline) {
      throw error;
    }
    const missing = await findMissing(git, at.worktreePath, at.baseline).catch(() => undefined);
    throw missing === undefined
      ? error
      : new GitError('repository-damaged', `The object ${missing} is not in the repository any more.`);
  }
}

/** The first object that HEAD and the baseline need and that the repository does not have. */
async function findMissing(
  git: GitRunner,
  worktreePath: string,
  { gitDir, identity, headSha, snapshot }: Baseline,
): Promise<string | undefined> {
  const { path: cwd } = await relocateWorktree(git, { worktreePath, gitDir, identity });
  const head = await git(['rev-parse', '--verify', '--quiet', 'HEAD'], { cwd, okCodes: [1, 128] });
  const commits = [...new Set([head.stdout.trim(), headSha, snapshot.commit])].filter((sha) => /^[0-9a-f]+$/.test(sha));
  const input = commits.map((sha) => `${sha}\n${sha}^{tree}\n`).join('');
  const { stdout } = await git(['cat-file', '--batch-check'], { cwd, input });
  return /^(\S+) missing$/m.exec(stdout)?.[1];
}
