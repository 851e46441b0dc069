import { setTimeout as delay } from 'node:timers/promises';
import { compact } from '../../../platform/json/compact';
import { GitError } from '../git-error';
import { type GitRunner, gitText } from '../run-git';
import type { FetchedBase, LocalBase, RemoteBranch } from '../worktrees/worktree-git';
import { assertBranchName } from './names';
import { locateRemote, remoteFingerprint } from './remotes';
import { resolveBase } from './resolve-base';
import type { GitTransfer } from './transfer';

export const trackingRef = (remote: string, branch: string): string => `refs/remotes/${remote}/${branch}`;

const isLock = (output: string): boolean => /unable to create '.*\.lock'|cannot lock ref/i.test(output);

/** How often a locked reference is tried at least. */
const fewestTries = 10;

/**
 * Asks a remote, once more as long as another git has locked what the response is written to.
 *
 * @throws GitError `fetch-failed`, `locked`
 */
async function ask(
  git: GitRunner,
  args: readonly string[],
  { transfer, cwd }: { transfer: GitTransfer; cwd: string },
): Promise<string> {
  const deadline = performance.now() + git.lockWaitMs;
  for (let tries = 1; ; tries += 1) {
    const { exitCode, stdout, stderr } = await transfer(args, { cwd }).catch((error: unknown) => {
      if (error instanceof GitError && error.code === 'timeout') {
        throw new GitError('fetch-failed', error.message);
      }
      throw error;
    });
    if (exitCode === 0) {
      return stdout;
    }
    const locked = isLock(stderr);
    // On a slow machine one try may take longer than a lock is waited for.
    if (locked && (tries < fewestTries || performance.now() < deadline)) {
      await delay(50);
      continue;
    }
    const reason = stderr.slice(-2_000) || `ended with ${exitCode ?? 'a signal'}`;
    throw new GitError(locked ? 'locked' : 'fetch-failed', `git ${args[0] ?? ''}: ${reason}`);
  }
}

/** See `WorktreeGit.fetchBase`. */
export async function fetchBase(
  git: GitRunner,
  transfer: GitTransfer,
  { repositoryPath, remote, branch }: RemoteBranch,
): Promise<FetchedBase> {
  assertBranchName(branch);
  const remoteUrlFingerprint = await remoteFingerprint(git, { repositoryPath, remote });
  const ref = trackingRef(remote, branch);
  const exactly = ['--no-tags', '--no-recurse-submodules', '--no-prune', '--no-write-fetch-head', '--refmap='];
  // The repository may name another program to run at the other end, which for a path is this one.
  const options = ['--progress', '--upload-pack=git-upload-pack', ...exactly, '--end-of-options'];
  const args = ['fetch', ...options, remote, `+refs/heads/${branch}:${ref}`];
  await ask(git, args, { transfer, cwd: repositoryPath });
  const fetchedAt = new Date().toISOString();
  const sha = await gitText(git, ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], {
    cwd: repositoryPath,
  });
  return { sha, ref, fetchedAt, remoteUrlFingerprint };
}

/** See `WorktreeGit.localBase`. */
export async function localBase(
  git: GitRunner,
  { repositoryPath, branch, remote }: { repositoryPath: string; branch: string; remote?: string },
): Promise<LocalBase> {
  const { sha } = await resolveBase(git, { repositoryPath, branch, ...compact({ remote }) });
  return { sha, source: remote === undefined ? 'local' : 'remote-tracking' };
}

/** See `WorktreeGit.remoteHead`. */
export async function remoteHead(
  git: GitRunner,
  transfer: GitTransfer,
  { repositoryPath, remote, branch }: RemoteBranch,
): Promise<string | undefined> {
  assertBranchName(branch);
  await locateRemote(git, repositoryPath, { remote });
  const ref = `refs/heads/${branch}`;
  const args = ['ls-remote', '--upload-pack=git-upload-pack', '--', remote, ref];
  const answer = await ask(git, args, { transfer, cwd: repositoryPath });
  // The pattern matches the end of a name: refs/heads/refs/heads/x would be listed too.
  const line = answer.split('\n').find((each) => each.endsWith(`\t${ref}`));
  return line?.split('\t')[0];
}
