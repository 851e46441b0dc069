import { isBranchName } from '../../contracts/common';
import type { Refusal } from '../../contracts/refusal';
import { maxRemotes } from '../../contracts/settings/repository';
import { compact } from '../../platform/json/compact';
import { slicePage } from '../../platform/lists/slice';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import { GitError } from '../../providers/git/git-error';
import { repositoryBranchesMessage, repositoryInspectionMessage } from '../../workflows/message-proofs';
import type {
  BranchPage,
  InspectedRepository,
  RepositoryBranchesInput,
  RepositoryInspectionInput,
} from '../../workflows/repository-view/messages';
import { judgeRepository, unreadable } from '../repository-setup/judgement';

export interface RepositoryViewDependencies {
  git: Pick<Git, 'inspecting' | 'listBranches'>;
  hostId: string;
  proofs: ProofVerifier;
}

export function createRepositoryViewActivities({ git, hostId, proofs }: RepositoryViewDependencies) {
  const why = (path: string, error: unknown): Promise<string> => unreadable(hostId, path, error);

  return {
    /** Judges a repository as `setUpRepository` does, and records nothing. */
    async inspectRepository({ proof, ...candidate }: RepositoryInspectionInput): Promise<InspectedRepository> {
      await proofs.require(repositoryInspectionMessage(candidate), proof);
      const { path, askRemotes } = candidate;
      return git
        .inspecting(async (inspected) => {
          const { problems, remotes } = await judgeRepository({ git: inspected, hostId, askRemotes }, candidate);
          if (problems.some(({ field }) => field === 'path')) {
            return { problems };
          }
          const head = await inspected.readHead({ repositoryPath: path });
          return { problems, head, remotes: remotes.filter(isBranchName).sort().slice(0, maxRemotes) };
        })
        .catch(async (error: unknown) => ({ problems: [{ field: 'path', message: await why(path, error) }] }));
    },

    /** Reads a page of the branches of a configured repository. */
    async listBranches({ proof, ...request }: RepositoryBranchesInput): Promise<BranchPage | Refusal> {
      await proofs.require(repositoryBranchesMessage(request), proof);
      const { path, limit, cursor } = request;
      try {
        const { branches, unlisted } = await git.listBranches({ repositoryPath: path });
        const page = slicePage(
          branches,
          { limit, cursor },
          { positionOf: ({ name, remote }) => ({ key: name, id: remote ?? '' }) },
        );
        return compact({ branches: page.items, next: page.next, unlisted });
      } catch (error) {
        const isDiverted = error instanceof GitError && error.code === 'repository-diverted';
        const message = isDiverted
          ? `The repository at ${path} on the host ${hostId} is not the one that was configured; restore it, or reread it.`
          : await why(path, error);
        return { status: 'refused', code: 'REPOSITORY_UNAVAILABLE', message, details: { hostId } };
      }
    },
  };
}

export type RepositoryViewActivities = ReturnType<typeof createRepositoryViewActivities>;
