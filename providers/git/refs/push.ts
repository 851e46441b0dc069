import { resolveCommit } from '../files/trees';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import type { PushRequest } from '../worktrees/worktree-git';
import { listWorktrees } from '../worktrees/worktree-list';
import { isAncestor } from './ancestry';
import { fetchBase, remoteHead } from './base';
import { assertBranchName, assertObjectName } from './names';
import { locateRemote } from './remotes';
import type { GitTransfer } from './transfer';

interface Pushed {
  alreadyPushed: boolean;
}

const moved = (branch: string, at: string | undefined): GitError =>
  new GitError('push-rejected', `${branch} has moved${at === undefined ? '' : ` to ${at}`}.`);

/** Reasons a remote gives when its branch is not where it was; others are refusals of its own. */
const rejection =
  /\((?:non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref|incorrect old value)/;

async function pushTo(
  git: GitRunner,
  transfer: GitTransfer,
  { repositoryPath, mergedSha, baseBranch, expectedBaseSha, remote }: PushRequest & { remote: string },
): Promise<Pushed> {
  const place = { repositoryPath, remote, branch: baseBranch };
  await locateRemote(git, repositoryPath, { remote, direction: 'push' });
  const head = await remoteHead(git, transfer, place);
  if (head === mergedSha) {
    return { alreadyPushed: true };
  }
  if (head === undefined) {
    throw new GitError('push-rejected', `${remote} has no branch ${baseBranch}.`);
  }
  if (head !== expectedBaseSha) {
    const { sha } = await fetchBase(git, transfer, place);
    if (await isAncestor(git, repositoryPath, { ancestor: mergedSha, descendant: sha })) {
      return { alreadyPushed: true };
    }
    throw moved(`${remote}/${baseBranch}`, sha);
  }
  const options = ['--progress', '--porcelain', '--no-verify', '--receive-pack=git-receive-pack', '--end-of-options'];
  const { exitCode, stdout, stderr } = await transfer(
    ['push', ...options, remote, `${mergedSha}:refs/heads/${baseBranch}`],
    { cwd: repositoryPath, config: [`remote.${remote}.mirror=false`] },
  ).catch((error: unknown) => {
    if (error instanceof GitError && error.code === 'timeout') {
      throw new GitError('push-failed', error.message);
    }
    throw error;
  });
  if (exitCode === 0) {
    return { alreadyPushed: false };
  }
  if (rejection.test(stdout) || rejection.test(stderr)) {
    throw moved(`${remote}/${baseBranch}`, undefined);
  }
  const refusal = stdout.split('\n').filter((line) => line.startsWith('!'));
  throw new GitError('push-failed', `git push: ${[...refusal, stderr].join('\n').slice(-2_000)}`);
}

/**
 * Moves the local base branch. Never one that is checked out: its checkout would then differ from its HEAD, as if
 * the merge had been undone in it.
 */
async function moveLocal(git: GitRunner, request: PushRequest): Promise<Pushed> {
  const { repositoryPath: cwd, mergedSha, baseBranch, expectedBaseSha } = request;
  const ref = `refs/heads/${baseBranch}`;
  const current = await resolveCommit(git, cwd, ref);
  if (current === undefined) {
    throw moved(baseBranch, undefined);
  }
  if (await isAncestor(git, cwd, { ancestor: mergedSha, descendant: current })) {
    return { alreadyPushed: true };
  }
  if (current !== expectedBaseSha) {
    throw moved(baseBranch, current);
  }
  const checkout = (await listWorktrees(git, cwd)).find((worktree) => worktree.branch === baseBranch);
  if (checkout) {
    const advice = `Merge ${mergedSha} there, or check out another branch`;
    throw new GitError('checked-out', `${baseBranch} is checked out in ${checkout.path}. ${advice}.`);
  }
  try {
    await git(['update-ref', ref, mergedSha, expectedBaseSha], { cwd });
  } catch (error) {
    if (error instanceof GitError && error.code === 'stale') {
      throw moved(baseBranch, undefined);
    }
    throw error;
  }
  return { alreadyPushed: false };
}

/** See `WorktreeGit.pushIntegration`. */
export async function pushIntegration(git: GitRunner, transfer: GitTransfer, request: PushRequest): Promise<Pushed> {
  const { remote, baseBranch, mergedSha, expectedBaseSha } = request;
  assertBranchName(baseBranch);
  assertObjectName(mergedSha);
  assertObjectName(expectedBaseSha);
  return remote === undefined ? moveLocal(git, request) : pushTo(git, transfer, { ...request, remote });
}
