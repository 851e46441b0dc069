import type { Permission } from '../../../contracts/permissions';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Graph } from '../../../services/workflow-runs/graph/graph';

type Target = { type: 'comment' | 'document' };

/** What a caller needs to write there by itself, which a run does in its name. */
const permissions: Record<Target['type'], Permission> = { comment: 'comment:write', document: 'settings:write' };

/**
 * Refuses to have a run write in the name of a caller what that may not write.
 *
 * @throws AppError 403
 */
export function assertMayWrite(
  targets: readonly Target[],
  { permissions: own }: Pick<AuthContext, 'permissions'>,
): void {
  const lacking = targets.map(({ type }) => permissions[type]).find((permission) => !own.includes(permission));
  if (lacking !== undefined) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `This requires the permission ${lacking}: the result of the workflow is written in your name.`,
      details: { required: [lacking], currentPermissions: own },
    });
  }
}

/** Where a run writes, by its compiled graph. */
export const targetsOf = ({ nodes }: Graph): Target[] =>
  Object.values(nodes).flatMap(({ write }) => (write ? [write.to] : []));
