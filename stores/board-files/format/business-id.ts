import type { Task } from '../../../contracts/tasks/task';

/** The issue or pull request of a task outside the board, as it states them: `github:<owner>/<repo>#<n>` and `git-pr:<owner>/<repo>#<n>`. */
export function statedIdsOf({ github, git }: Task): string[] {
  const [, repository, number] = /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/pull\/(\d+)/.exec(git?.prUrl ?? '') ?? [];
  return [
    ...(github ? [`github:${github.repo}#${github.issueNumber}`] : []),
    ...(repository && number ? [`git-pr:${repository}#${number}`] : []),
  ];
}

/** The same in lower case, to be compared: forges take names of owners and repositories in any. */
export const businessIdsOf = (task: Task): string[] => statedIdsOf(task).map((id) => id.toLowerCase());

/** The business ids that a task claims: none once it is deleted. */
export const claimsOf = (task: Task): string[] => (task.deletedAt === undefined ? businessIdsOf(task) : []);
