import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import { GitError } from '../../providers/git/git-error';
import { repositoryMessage } from '../../workflows/message-proofs';
import type { RepositoryProblem, RepositorySetupInput } from '../../workflows/repository-setup/messages';

export interface RepositoryDependencies {
  git: Pick<Git, 'configureRepository'>;
  hostId: string;
  proofs: ProofVerifier;
}

export function createRepositoryActivities({ git, hostId, proofs }: RepositoryDependencies) {
  return {
    /**
     * Records the present configuration of a repository: git is run with this, and with nothing that is changed later.
     * Repeated, it records the same again.
     *
     * @returns why the repository cannot be used as it is configured; `null` when it can
     */
    async setUpRepository({ proof, ...place }: RepositorySetupInput): Promise<RepositoryProblem | null> {
      await proofs.require(repositoryMessage(place), proof);
      const { path, remote, allowFilters } = place;
      try {
        const recorded = await git.configureRepository({ repositoryPath: path, allowFilters, reread: true });
        if (remote !== null && !recorded.remotes.includes(remote)) {
          return { field: 'remote', message: `${path} has no remote ${remote} on the host ${hostId}.` };
        }
        const [missing] = recorded.missingFilters;
        if (missing === undefined) {
          return null;
        }
        const message = `The git configuration of the worker on the host ${hostId} defines no filter ${missing}.`;
        return { field: 'allowFilters', message };
      } catch (error) {
        if (!(error instanceof GitError) || error.code !== 'not-a-repository') {
          throw error;
        }
        return { field: 'path', message: `There is no git repository at ${path} on the host ${hostId}.` };
      }
    },
  };
}

export type RepositoryActivities = ReturnType<typeof createRepositoryActivities>;
