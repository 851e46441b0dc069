import type { Task } from '../../../contracts/tasks/task';

/**
 * The issue or pull request of a task outside the board: `github:<owner>/<repo>#<n>` and `git-pr:<owner>/<repo>#<n>`, in lower
 * case, since forges take names of owners and repositories in any.
 */
export function businessIdsOf({ github, git }: Task): string[] {
  const [, repository, number] = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/pull\/(\d+)/.exec(git?.prUrl ?? '') ?? [];
  return [
    ...(github ? [`github:${github.repo.toLowerCase()}#${github.issueNumber}`] : []),
    ...(repository && number ? [`git-pr:${repository.toLowerCase()}#${number}`] : []),
  ];
}

/** The business ids that a task claims: none once it is deleted. */
export const claimsOf = (task: Task): string[] => (task.deletedAt === undefined ? businessIdsOf(task) : []);
