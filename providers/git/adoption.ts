import { lstat } from 'node:fs/promises';
import { isAncestor } from './ancestry';
import { fetchBase } from './base';
import { recordedPath } from './contained';
import { linkedGitDir } from './evidence';
import { assertBranchName } from './names';
import { remoteFingerprint } from './remotes';
import { type GitRunner, gitText } from './run-git';
import type { GitTransfer } from './transfer';
import type { AdoptionEvidence, AdoptionRequest } from './worktree-git';
import { listWorktrees } from './worktree-list';

/** See `WorktreeGit.adoptable`. */
export async function adoptable(
  git: GitRunner,
  transfer: GitTransfer,
  { repositoryPath, worktreePath, worktreeBranch, remote, branch }: AdoptionRequest,
): Promise<AdoptionEvidence> {
  assertBranchName(worktreeBranch);
  const base = await fetchBase(git, transfer, { repositoryPath, remote, branch });
  const path = await recordedPath(worktreePath);
  const where = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const commonDir = await gitText(git, where, { cwd: repositoryPath });
  const [, ...linked] = await listWorktrees(git, commonDir);
  const listed = linked.find((worktree) => worktree.path === path);
  const isDirectory = (await lstat(path).catch(() => undefined))?.isDirectory() === true;
  const gitDirMatches = isDirectory && (await linkedGitDir(commonDir, path)) !== undefined;
  // A worktree may have settings of its own, and mean another place by the same name.
  const fingerprint = gitDirMatches
    ? await remoteFingerprint(git, { repositoryPath: path, remote }).catch(() => undefined)
    : undefined;
  const headSha = listed?.headSha ?? null;
  const answers = {
    registered: listed !== undefined,
    branchMatches: listed?.branch === worktreeBranch,
    gitDirMatches,
    remoteMatches: fingerprint === base.remoteUrlFingerprint,
    baseIsAncestor: headSha !== null && (await isAncestor(git, commonDir, base.sha, headSha)),
  };
  return { path, headSha, base, ...answers, adoptable: Object.values(answers).every(Boolean) };
}
