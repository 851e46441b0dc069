import { isMergeBranch, mergeBranchAdvice } from '../../../domain/workspaces/merge-branches';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { WorktreesContext } from './context';
import { manifestOf } from './read';

const needed = 'admin:manage';

/**
 * Lets a caller merge who may merge into the base of the worktree: the task names it, and any caller that changes tasks could
 * name any.
 *
 * @returns whether the caller may merge into any branch, as part of the request
 * @throws AppError 403 `FORBIDDEN` with what to do
 */
export async function assertMayMerge(
  context: WorktreesContext,
  taskId: string,
  auth: AuthContext,
): Promise<{ anyBranch?: true }> {
  if (auth.permissions.includes(needed)) {
    return { anyBranch: true };
  }
  const { repository: name, base } = await manifestOf(context, taskId);
  const repository = await context.repositories.find(name);
  if (isMergeBranch(repository, base.branch)) {
    return {};
  }
  throw new AppError('FORBIDDEN', {
    status: 403,
    message: mergeBranchAdvice(name, base.branch),
    details: {
      required: [needed],
      currentRole: auth.role,
      currentPermissions: auth.permissions,
      repository: name,
      branch: base.branch,
    },
  });
}
