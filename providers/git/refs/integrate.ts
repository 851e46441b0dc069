import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { safePath } from '../files/safe-path';
import { commitTree, readCommit } from '../files/trees';
import { GitError, listedPaths } from '../git-error';
import type { GitRunner } from '../run-git';
import { disableFilters } from '../settings/disable-filters';
import { makeShared } from '../settings/private-directory';
import { deleteWorktreeFiles } from '../worktrees/delete-worktree-files';
import { initializing, makeRoom } from '../worktrees/worktree';
import type { Integrated, IntegrateRequest } from '../worktrees/worktree-git';
import { listWorktrees } from '../worktrees/worktree-list';
import { isAncestor } from './ancestry';
import { assertObjectName, integrationRef } from './names';
import { refTarget, setRef } from './set-ref';

/** Marks worktrees that only hold a merge while it is made. */
const integrating = 'board: integrating';

/** Removes what an earlier integration left at the path; anything else is not ours. */
async function clearIntegration(git: GitRunner, repository: string, path: string): Promise<void> {
  const listed = (await listWorktrees(git, repository)).find((worktree) => worktree.path === path);
  if (!listed) {
    return;
  }
  if (listed.branch !== null || (listed.locked !== integrating && listed.locked !== initializing)) {
    throw new GitError('conflict', `${path} is a worktree that is used for something else.`);
  }
  await deleteWorktreeFiles(git, repository, { path });
}

/** Writes the files that state how others are merged, and only those. */
async function writeAttributes(git: GitRunner, cwd: string, baseSha: string): Promise<void> {
  await git(['read-tree', baseSha], { cwd });
  const { stdout } = await git(['ls-files', '-z', '--', ':(glob)**/.gitattributes'], { cwd });
  if (stdout === '') {
    return;
  }
  await git(['checkout-index', '-z', '--stdin'], { cwd, input: stdout, config: await disableFilters(git, cwd) });
}

/**
 * Merges two commits without their files: no filter of the repository runs, and many files take no longer than a few.
 *
 * @throws GitError `merge-conflict`
 */
async function mergeTrees(
  git: GitRunner,
  cwd: string,
  { baseSha, headSha }: { baseSha: string; headSha: string },
): Promise<string> {
  await writeAttributes(git, cwd, baseSha);
  const command = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', baseSha, headSha];
  const { exitCode, stdout } = await git(command, { cwd, okCodes: [1] });
  const [tree = '', ...paths] = stdout.split('\0').filter((field) => field !== '');
  if (exitCode === 0) {
    return tree;
  }
  const message = `${headSha} conflicts with ${baseSha} in ${paths.length} files.`;
  throw new GitError('merge-conflict', message, paths.slice(0, listedPaths));
}

async function merge(git: GitRunner, cwd: string, request: IntegrateRequest): Promise<string> {
  const { baseSha, headSha, author, message } = request;
  const tree = await mergeTrees(git, cwd, { baseSha, headSha });
  const date = Math.floor(Date.now() / 1_000);
  const ended = message.endsWith('\n') ? message : `${message}\n`;
  const commit = { tree, parents: [baseSha, headSha], message: ended, date, author };
  return commitTree(git, cwd, commit);
}

/** See `WorktreeGit.integrate`. */
export async function integrate(git: GitRunner, request: IntegrateRequest): Promise<Integrated> {
  const { repositoryPath, baseSha, headSha, id } = request;
  assertObjectName(baseSha);
  assertObjectName(headSha);
  const ref = integrationRef(id);
  const path = await safePath(request.integrationPath, request.insideDir);
  const repository = git.repositories.place(repositoryPath).commonDir;
  if (await isAncestor(git, repository, { ancestor: headSha, descendant: baseSha })) {
    return { mergedSha: baseSha, alreadyMerged: true };
  }

  await clearIntegration(git, repository, path);
  await makeRoom(path, false);
  await mkdir(dirname(path), { recursive: true });
  const add = ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--lock', '--reason', integrating];
  // Git removes it with the last worktree, and cannot make it by way of our link.
  makeShared(join(repository, 'worktrees'));
  await git([...add, path, baseSha], { cwd: repository });
  try {
    const preserved = await readCommit(git, repository, ref);
    const same = preserved?.parents.join() === [baseSha, headSha].join();
    const mergedSha = same ? preserved.sha : await merge(git, path, request);
    await setRef(git, repository, { ref, sha: mergedSha, expected: preserved?.sha ?? null });
    await setRef(git, path, { ref: 'HEAD', sha: mergedSha });
    return { mergedSha, alreadyMerged: false };
  } catch (error) {
    await deleteWorktreeFiles(git, repository, { path });
    throw error;
  }
}

/** See `WorktreeGit.removeIntegration`. */
export async function removeIntegration(
  git: GitRunner,
  request: { repositoryPath: string; integrationPath: string; insideDir: string; id: string; landed: boolean },
): Promise<void> {
  const ref = integrationRef(request.id);
  const path = await safePath(request.integrationPath, request.insideDir);
  const repository = git.repositories.place(request.repositoryPath).commonDir;
  await clearIntegration(git, repository, path);
  if (!request.landed) {
    return;
  }
  const tip = await refTarget(git, repository, ref);
  if (tip !== undefined) {
    await git(['update-ref', '--no-deref', '-d', ref, tip], { cwd: repository });
  }
}
