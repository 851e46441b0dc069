import { stat } from 'node:fs/promises';
import { within } from '../../platform/operations/within';
import { findCommand } from '../../platform/processes/find-command';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import { GitError } from '../../providers/git/git-error';
import type { BranchRequest } from '../../providers/git/refs/resolve-base';
import { repositoryMessage } from '../../workflows/message-proofs';
import type { RepositoryProblem, RepositorySetupInput } from '../../workflows/repository-setup/messages';

export interface RepositoryDependencies {
  git: Pick<Git, 'configureRepository' | 'remoteHead' | 'resolveBase'>;
  hostId: string;
  proofs: ProofVerifier;
}

/** How long a remote may take to say whether it has a branch, in milliseconds. */
const remoteAnswerMs = 8_000;

export function createRepositoryActivities({ git, hostId, proofs }: RepositoryDependencies) {
  /** Tasks begin at this branch: it has a commit here, or at the remote. */
  const branchProblem = async (configured: {
    path: string;
    branch: string;
    remotes: string[];
  }): Promise<RepositoryProblem | null> => {
    const { path: repositoryPath, branch, remotes } = configured;
    for (const source of [{}, ...remotes.map((remote) => ({ remote }))]) {
      if (await hasBranch({ repositoryPath, branch, ...source })) {
        return null;
      }
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
    const message =
      `${repositoryPath} has no branch ${branch} with a commit on the host ${hostId}; ` +
      'name another one as defaultBranch, or make it: git commit --allow-empty -m begin';
    return { field: 'defaultBranch', message };
  };

  const hasBranch = async (request: BranchRequest): Promise<boolean> => {
    try {
      await git.resolveBase(request);
      return true;
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'unknown-ref') {
        throw error;
      }
      return false;
    }
  };

  /** Why nothing can be done with what is at a path; `undefined` where that is not the error. */
  const unusable = async (path: string, error: unknown): Promise<string | undefined> => {
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
    return `There is no git repository at ${where}: make one with git init, or name another path.`;
  };

  return {
    /**
     * Records the present configuration of a repository: git is run with this, and with nothing that is changed later.
     * Repeated, it records the same again.
     *
     * @returns why the repository cannot be used as it is configured; `null` when it can
     */
    async setUpRepository({ proof, ...place }: RepositorySetupInput): Promise<RepositoryProblem | null> {
      await proofs.require(repositoryMessage(place), proof);
      const { path, remote, allowFilters, defaultBranch } = place;
      try {
        const recorded = await git.configureRepository({ repositoryPath: path, allowFilters, reread: true });
        if (remote !== null && !recorded.remotes.includes(remote)) {
          return { field: 'remote', message: `${path} has no remote ${remote} on the host ${hostId}.` };
        }
        const [missing] = recorded.missingFilters;
        if (missing !== undefined) {
          const message = `The git configuration of the worker on the host ${hostId} defines no filter ${missing}.`;
          return { field: 'allowFilters', message };
        }
        if (defaultBranch === undefined) {
          return null;
        }
        const remotes = recorded.remotes.filter((name) => name === (remote ?? 'origin'));
        return await branchProblem({ path, branch: defaultBranch, remotes });
      } catch (error) {
        const message = await unusable(path, error);
        if (message === undefined) {
          throw error;
        }
        return { field: 'path', message };
      }
    },
  };
}

export type RepositoryActivities = ReturnType<typeof createRepositoryActivities>;
