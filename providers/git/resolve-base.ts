import { GitError } from './git-error';
import { assertBranchName } from './names';
import { type GitRunner, gitText } from './run-git';
import { readCommit } from './trees';

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
  if (remote !== undefined) assertBranchName(remote);
  const cwd = repositoryPath;
  await gitText(git, ['rev-parse', '--git-dir'], { cwd });
  const ref = remote === undefined ? `refs/heads/${branch}` : `refs/remotes/${remote}/${branch}`;
  const commit = await readCommit(git, cwd, ref);
  if (!commit) throw new GitError('unknown-ref', `${repositoryPath} has no branch ${ref.replace(/^refs\/\w+\//, '')}.`);
  return { sha: commit.sha };
}
