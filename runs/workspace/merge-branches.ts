import type { Repository } from '../../contracts/repository';

/**
 * Whether a branch is one that whoever may change tasks may merge into: tasks name their base themselves, and a merge
 * moves it for everybody.
 *
 * @param repository as it is configured; absent when it is not any more
 */
export const isMergeBranch = (
  repository: Pick<Repository, 'defaultBranch' | 'mergeBranches'> | undefined,
  branch: string,
): boolean =>
  repository !== undefined && [repository.defaultBranch, ...(repository.mergeBranches ?? [])].includes(branch);

/** What to do about a branch that is none. */
export const mergeBranchAdvice = (repository: string, branch: string): string =>
  `${branch} is no branch of ${repository} that everybody may merge into. Let an administrator merge, or add it with ` +
  `PATCH /api/config/repos/${repository} {"mergeBranches": [${JSON.stringify(branch)}]}.`;
