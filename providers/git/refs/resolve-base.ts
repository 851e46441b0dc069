import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { assertBranchName } from './names';

export interface BranchRequest {
  repositoryPath: string;
  branch: string;
  /** Name of a remote: then its branch as it was last fetched. */
  remote?: string;
}

/** The commit a branch is at. @throws GitError `not-a-repository`, `unknown-ref` */
export async function resolveBase(
  git: GitRunner,
  { repositoryPath, branch, remote }: BranchRequest,
): Promise<{ sha: string }> {
  assertBranchName(branch);
  if (remote !== undefined) {
    assertBranchName(remote);
  }
  const ref = remote === undefined ? `refs/heads/${branch}` : `refs/remotes/${remote}/${branch}`;
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const { exitCode, stdout } = await git(question, { cwd: repositoryPath, okCodes: [1] });
  if (exitCode === 0) {
    return { sha: stdout.trim() };
  }
  throw new GitError('unknown-ref', `${repositoryPath} has no branch ${ref.replace(/^refs\/\w+\//, '')}.`);
}
