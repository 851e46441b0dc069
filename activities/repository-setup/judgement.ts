import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isBranchName, notABranchName } from '../../contracts/common';
import { within } from '../../platform/operations/within';
import { findCommand } from '../../platform/processes/find-command';
import type { Git } from '../../providers/git/git';
import { GitError, type GitErrorCode } from '../../providers/git/git-error';
import type { BranchRequest } from '../../providers/git/refs/resolve-base';
import { locateRepository } from '../../providers/git/settings/repository-location';
import type { ConfiguredRepository, RepositoryProblem } from '../../workflows/repository-setup/messages';

/** How long a remote may take to say whether it has a branch, in milliseconds. */
const remoteAnswerMs = 8_000;

/** Of the moment, and no property of the repository. */
const isTransient = new Set<GitErrorCode>(['timeout', 'locked']);

export interface Judgement {
  problems: RepositoryProblem[];
  remotes: string[];
}

interface Judge {
  git: Pick<Git, 'configureRepository' | 'readHead' | 'remoteHead' | 'resolveBase'>;
  hostId: string;
  /** Whether a remote may be asked for a branch that is not here. */
  askRemotes: boolean;
}

/** Why nothing can be done with what is at a path; `undefined` where that is not the error. */
export async function unusable(hostId: string, path: string, error: unknown): Promise<string | undefined> {
  const code = error instanceof GitError ? error.code : (error as NodeJS.ErrnoException | undefined)?.code;
  const where = `${path} on the host ${hostId}`;
  if (code === 'EACCES' || code === 'EPERM') {
    return `The worker may not read ${where}: give its user access, e.g. chmod -R u+rX.`;
  }
  if (code !== 'not-a-repository') {
    return undefined;
  }
  if ('problem' in findCommand('git', process.env.PATH ?? '')) {
    return `The worker on the host ${hostId} finds no git on its PATH: install git 2.38 or newer there.`;
  }
  const found = await stat(path).catch((reason: unknown) => (reason as NodeJS.ErrnoException).code);
  if (found === 'EACCES') {
    return `The worker may not read ${where}: give its user access, e.g. chmod -R u+rX.`;
  }
  if (typeof found !== 'object') {
    return `There is nothing at ${where}.`;
  }
  if (hasGitDirectory(path)) {
    return `Git refuses the repository at ${where}: its HEAD or its configuration is damaged (git -C ${path} status).`;
  }
  return `There is no git repository at ${where}: make one with git init, or name another path.`;
}

/** Why git cannot read a repository, in words of our own: what git prints may quote files. @throws what is no error of git's */
export async function unreadable(hostId: string, path: string, error: unknown): Promise<string> {
  const known = await unusable(hostId, path, error);
  if (known === undefined && !(error instanceof GitError)) {
    throw error;
  }
  return known ?? `Git cannot read the repository at ${path} on the host ${hostId}.`;
}

function hasGitDirectory(path: string): boolean {
  try {
    return existsSync(locateRepository(path).commonDir);
  } catch {
    return false;
  }
}

/**
 * Reads the present configuration of a repository, which `git` records, and judges whether tasks can use it like that.
 *
 * @returns everything that is wrong; of `path` where there is no repository
 */
export async function judgeRepository(judge: Judge, location: ConfiguredRepository): Promise<Judgement> {
  const { git, hostId } = judge;
  const { path, remote, allowFilters, defaultBranch } = location;
  try {
    const recorded = await git.configureRepository({ repositoryPath: path, allowFilters, reread: true });
    const problems: RepositoryProblem[] = [];
    if (remote !== null && !recorded.remotes.includes(remote)) {
      problems.push({ field: 'remote', message: `${path} has no remote ${remote} on the host ${hostId}.` });
    }
    const [missing] = recorded.missingFilters;
    if (missing !== undefined) {
      const message = `The git configuration of the worker on the host ${hostId} defines no filter ${missing}.`;
      problems.push({ field: 'allowFilters', message });
    }
    const remotes = recorded.remotes.filter((name) => name === (remote ?? 'origin'));
    // Git refuses a repository whose HEAD is none, whatever it is asked. A detached or unborn one, or one at a tag, is read.
    await git.readHead({ repositoryPath: path });
    const ofBranch =
      defaultBranch === undefined ? null : await branchProblem(judge, { path, branch: defaultBranch, remotes });
    return { problems: ofBranch ? [...problems, ofBranch] : problems, remotes: recorded.remotes };
  } catch (error) {
    if (error instanceof GitError && isTransient.has(error.code)) {
      throw error;
    }
    return { problems: [{ field: 'path', message: await unreadable(hostId, path, error) }], remotes: [] };
  }
}

/** Tasks begin at this branch: it has a commit here, or at the remote. */
async function branchProblem(
  { git, hostId, askRemotes }: Judge,
  { path: repositoryPath, branch, remotes }: { path: string; branch: string; remotes: string[] },
): Promise<RepositoryProblem | null> {
  // Git refuses to ask a remote for what is no name, which would count as a remote that cannot be reached.
  if (!isBranchName(branch)) {
    return { field: 'defaultBranch', message: notABranchName };
  }
  for (const source of [{}, ...remotes.map((remote) => ({ remote }))]) {
    if (await hasBranch(git, { repositoryPath, branch, ...source })) {
      return null;
    }
  }
  const missing = `${repositoryPath} has no branch ${branch} with a commit on the host ${hostId}`;
  if (!askRemotes && remotes.length > 0) {
    const message = `${missing}, and its remote ${remotes.join()} is asked only for callers with settings:write.`;
    return { field: 'defaultBranch', message };
  }
  for (const remote of remotes) {
    // A remote that cannot be reached now may have it: the first worktree will show.
    const head = await within(
      remoteAnswerMs,
      `no answer within ${remoteAnswerMs} ms`,
      git.remoteHead({ repositoryPath, remote, branch }),
    ).catch(() => 'unknown');
    if (head !== undefined) {
      return null;
    }
  }
  const message = `${missing}; name another one as defaultBranch, or make it: git commit --allow-empty -m begin`;
  return { field: 'defaultBranch', message };
}

async function hasBranch(git: Judge['git'], request: BranchRequest): Promise<boolean> {
  try {
    await git.resolveBase(request);
    return true;
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'unknown-ref') {
      throw error;
    }
    return false;
  }
}
