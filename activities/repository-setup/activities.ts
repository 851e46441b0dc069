import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import { repositoryMessage } from '../../workflows/message-proofs';
import type { RepositoryProblem, RepositorySetupInput } from '../../workflows/repository-setup/messages';
import { judgeRepository } from './judgement';

export interface RepositoryDependencies {
  git: Pick<Git, 'configureRepository' | 'readHead' | 'remoteHead' | 'resolveBase'>;
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
      const { problems } = await judgeRepository({ git, hostId, askRemotes: true }, place);
      return problems[0] ?? null;
    },
  };
}

export type RepositoryActivities = ReturnType<typeof createRepositoryActivities>;
