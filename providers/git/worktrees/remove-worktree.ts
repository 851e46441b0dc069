import { lstatSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { preservedDirectory, preserveNested } from '../files/preserve-nested';
import { pathInside } from '../files/safe-path';
import { createSnapshotCommit } from '../files/snapshot-commit';
import { readCommit, resolveCommit, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { autostashes } from '../operation-state';
import { assertBranchName, assertObjectName, removedRef } from '../refs/names';
import { onOtherBranch } from '../refs/other-branch';
import { setRef } from '../refs/set-ref';
import { type GitRunner, gitText } from '../run-git';
import { deleteWorktreeFiles, moveReplaced, replacedPath } from './delete-worktree-files';
import { findBase, inspectWorktree, locateLinked } from './evidence';
import { clearBranchLock } from './locks';
import { initializing, preparing } from './worktree';
import type { ListedWorktree, Removed, RemoveRequest, WorktreeEvidence } from './worktree-git';
import { listWorktrees } from './worktree-list';
import { locateWorktree } from './worktree-location';

/** Locks a worktree whose removal was decided and whose content is stored: its finder completes the removal. */
const removing = 'board: removing';

/** Reasons after which nothing has to be checked any more, or nothing was ever handed over. */
const worthless: ReadonlySet<string | null> = new Set([removing, preparing, initializing]);

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function refuseWhatForceCannot(evidence: WorktreeEvidence, { branch, headSha }: RemoveRequest): void {
  const { path } = evidence;
  if (evidence.exists && !evidence.gitDirMatches) {
    throw new GitError('mismatch', `${path} is not linked to its repository; git worktree repair may help.`);
  }
  if (evidence.branch !== branch) {
    throw new GitError('mismatch', onOtherBranch(path, { actual: evidence.branch, expected: branch }));
  }
  if (evidence.headSha !== headSha) {
    throw new GitError('stale', `${path} is at ${evidence.headSha ?? 'no commit'}, not at ${headSha}.`);
  }
  if (evidence.locked !== null) {
    throw new GitError('worktree-locked', `${path} is locked: ${evidence.locked}`);
  }
}

function refuseWhatIsNotSafe(evidence: WorktreeEvidence): void {
  const { path, dirty, untracked, operation, unpushed, unmerged, problems } = evidence;
  if (!evidence.complete) {
    throw new GitError('dirty', `${path} cannot be inspected: ${problems.join(' ')}`);
  }
  if (operation !== null) {
    throw new GitError('dirty', `${path} has an unfinished ${operation}.`);
  }
  if (dirty + untracked > 0) {
    throw new GitError('dirty', `${path} has ${dirty} changed and ${untracked} untracked files.`);
  }
  if (unpushed > 0 || unmerged) {
    throw new GitError('unmerged', `${path} has commits that the base or the remote does not have.`);
  }
}

/** Stores files, commits and what an unfinished operation has put away. A stored commit is never replaced. */
async function storeContent(
  git: GitRunner,
  commonDir: string,
  { evidence, id }: { evidence: WorktreeEvidence; id: string },
): Promise<void> {
  const ref = removedRef(id);
  const { path, headSha, branchSha } = evidence;
  if (headSha === null || (await resolveCommit(git, commonDir, ref))) {
    return;
  }
  const head = await readCommit(git, commonDir, headSha);
  if (!head) {
    throw new GitError('unknown-ref', `The commit ${headSha} of ${path} is gone.`);
  }
  const location = evidence.identity
    ? locateWorktree(git, { worktreePath: path, identity: evidence.identity })
    : undefined;
  const tree = location ? await writeWorktreeTree(git, location) : head.tree;
  const changed = tree !== head.tree || evidence.operation !== null;
  if (!changed && evidence.unpushed === 0 && !evidence.unmerged && evidence.complete) {
    return;
  }
  const stashed = location ? await autostashes(location.gitDir) : [];
  const others = [...(branchSha === null ? [] : [branchSha]), ...stashed];
  const message = `What ${path} held when it was removed\n`;
  const commit = await createSnapshotCommit(git, commonDir, { head, tree, others, message });
  await setRef(git, commonDir, { ref, sha: commit, expected: null });
}

/** Stores the tip of a branch whose worktree git has forgotten, when it is where the removal was decided on. */
async function preserveBranch(git: GitRunner, cwd: string, { branch, headSha, id }: RemoveRequest): Promise<void> {
  const tip = await resolveCommit(git, cwd, `refs/heads/${branch}`);
  if (tip !== headSha || (await resolveCommit(git, cwd, removedRef(id)))) {
    return;
  }
  await setRef(git, cwd, { ref: removedRef(id), sha: tip, expected: null });
}

async function decide(
  git: GitRunner,
  request: RemoveRequest,
  { commonDir, path }: { commonDir: string; path: string },
): Promise<void> {
  const evidence = await inspectWorktree(git, request);
  refuseWhatForceCannot(evidence, request);
  if (request.force) {
    await storeContent(git, commonDir, { evidence, id: request.id });
  } else {
    refuseWhatIsNotSafe(evidence);
  }
  await git(['worktree', 'lock', '--reason', removing, '--', path], { cwd: commonDir });
}

/** Deletes the branch when its commits are in the base or were stored, and no other worktree has it checked out. */
async function deleteBranch(git: GitRunner, cwd: string, request: RemoveRequest): Promise<boolean> {
  const { branch, id } = request;
  const tip = await resolveCommit(git, cwd, `refs/heads/${branch}`);
  if (tip === undefined || (await listWorktrees(git, cwd)).some((worktree) => worktree.branch === branch)) {
    return false;
  }
  const base = await resolveCommit(git, cwd, (await findBase(git, cwd, request)).sha);
  const preserved = await resolveCommit(git, cwd, removedRef(id));
  const keepers = [base, preserved].filter((sha) => sha !== undefined);
  if ((await gitText(git, ['rev-list', '--max-count=1', tip, '--not', ...keepers], { cwd })) !== '') {
    return false;
  }
  await clearBranchLock(cwd, branch, git);
  try {
    await git(['update-ref', '--no-deref', '-d', `refs/heads/${branch}`, tip], { cwd });
    return true;
  } catch (error) {
    // It has new commits meanwhile: it stays.
    if (error instanceof GitError && error.code === 'stale') {
      return false;
    }
    throw error;
  }
}

function refusePrimary([primary]: readonly ListedWorktree[], path: string): void {
  if (primary?.path === path) {
    throw new GitError('outside', `${path} is a primary checkout.`);
  }
}

/** See `WorktreeGit.removeWorktree`. */
export async function removeWorktree(git: GitRunner, request: RemoveRequest): Promise<Removed> {
  const { repositoryPath, insideDir, id, branch, headSha, identity } = request;
  assertBranchName(branch);
  assertObjectName(headSha);
  const ref = removedRef(id);
  const path = await pathInside(request.worktreePath, insideDir);
  const { commonDir } = git.repositories.place(repositoryPath);
  const worktrees = await listWorktrees(git, commonDir);
  refusePrimary(worktrees, path);
  const listed = worktrees.find((worktree) => worktree.path === path);
  const { location, replaced } = locateLinked(git, commonDir, { ...request, path });
  if (replaced !== null) {
    if (!listed && !identity) {
      throw new GitError('outside', replaced);
    }
    if (!request.force) {
      throw new GitError('worktree-replaced', replaced);
    }
    await preserveBranch(git, commonDir, request);
    await git.verify();
    await moveReplaced(path, id);
    if (listed) {
      await deleteWorktreeFiles(git, commonDir, { path });
    }
  } else if (listed) {
    if (!worthless.has(listed.locked)) {
      await decide(git, request, { commonDir, path });
    }
    // Without its link the deletion has begun, and everything is aside already.
    if (location) {
      await preserveNested(git, location, id);
    }
    await deleteWorktreeFiles(git, commonDir, { path, identity });
  } else if (await exists(path)) {
    throw new GitError('mismatch', `${path} is not a worktree of ${repositoryPath}.`);
  } else if (request.force) {
    await preserveBranch(git, commonDir, request);
  }
  const branchDeleted = await deleteBranch(git, commonDir, request);
  const preservedTip = await resolveCommit(git, commonDir, ref);
  const preserved = preservedDirectory(commonDir, id);
  const movedTo = replacedPath(path, id);
  return {
    removed: listed !== undefined,
    branchDeleted,
    ...(preservedTip ? { preserved: { ref, commit: preservedTip } } : {}),
    ...((await exists(preserved)) ? { setAside: preserved } : {}),
    ...(lstatSync(movedTo, { throwIfNoEntry: false }) ? { movedAside: movedTo } : {}),
  };
}
