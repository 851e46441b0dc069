import { recordedPath } from '../files/safe-path';
import { isAncestor } from '../refs/ancestry';
import { fetchBase } from '../refs/base';
import { assertBranchName } from '../refs/names';
import type { GitTransfer } from '../refs/transfer';
import type { GitRunner } from '../run-git';
import { locateLinked } from './evidence';
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
  const { commonDir } = git.repositories.place(repositoryPath);
  const [, ...linked] = await listWorktrees(git, commonDir);
  const listed = linked.find((worktree) => worktree.path === path);
  const { location } = locateLinked(git, commonDir, { path });
  const headSha = listed?.headSha ?? null;
  const answers = {
    registered: listed !== undefined,
    branchMatches: listed?.branch === worktreeBranch,
    gitDirMatches: location !== undefined,
    // A worktree with settings of its own may mean another location by the same name.
    remoteMatches: location !== undefined && !(await git.repositories.hasOwnRemotes(location.gitDir)),
    baseIsAncestor: headSha !== null && (await isAncestor(git, commonDir, { ancestor: base.sha, descendant: headSha })),
  };
  return {
    path,
    identity: location?.identity ?? null,
    headSha,
    base,
    ...answers,
    adoptable: Object.values(answers).every(Boolean),
  };
}
