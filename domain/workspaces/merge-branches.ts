import type { Repository } from '../../contracts/settings/repository';

/**
 * Whether a branch is one that every editor of tasks may merge into: tasks name their base themselves, and a merge moves it for
 * all.
 *
 * @param repository's configuration; absent when it was removed
 */
export const isMergeBranch = (
  repository: Pick<Repository, 'defaultBranch' | 'mergeBranches'> | undefined,
  branch: string,
): boolean =>
  repository !== undefined && [repository.defaultBranch, ...(repository.mergeBranches ?? [])].includes(branch);

/** What to do about a branch that is none. */
export const mergeBranchAdvice = (repository: string, branch: string): string =>
  `${branch} is not in the merge branches of ${repository}. Let an administrator merge, or add it with ` +
  `PATCH /api/config/repos/${repository} {"mergeBranches": [${JSON.stringify(branch)}]}.`;

/**
 * Whether a task would work on a branch that only merges may move: its base, or one that work of the repository is merged into.
 * Commits of its agents would move it without a merge. Letter case makes no other branch: not every file system distinguishes
 * it.
 */
export const isBaseBranch = (
  repository: Pick<Repository, 'defaultBranch' | 'mergeBranches'>,
  { branch, baseBranch }: { branch: string; baseBranch: string },
): boolean =>
  [baseBranch, repository.defaultBranch, ...(repository.mergeBranches ?? [])].some(
    (base) => base.toLowerCase() === branch.toLowerCase(),
  );

/** What to do about a task that works on such a branch. */
export const baseBranchAdvice = (repository: string, branch: string): string =>
  `${branch} is a branch that work in ${repository} is merged into: no task works on it. Set git.branch to another one ` +
  'or leave it out, and merge that.';
