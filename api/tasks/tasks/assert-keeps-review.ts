import type { Task } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';

/** What of a caller decides whether it may change how the results of a task are reviewed. */
export type ReviewingCaller = Pick<AuthContext, 'role' | 'permissions'>;

/** Who may decide reviews, which an agent may not of its own result. */
const reviewing = 'agent:write';

/** Reviews are taken off a task, and delivered in another way, by those who decide them. @throws AppError 403 */
export function assertKeepsReview(current: Task, changed: Partial<Task>, auth: ReviewingCaller): void {
  if (!('executionPolicy' in changed) || auth.permissions.includes(reviewing)) {
    return;
  }
  const [before, after] = [current.executionPolicy, changed.executionPolicy];
  const field =
    before?.review === 'required' && after?.review !== 'required'
      ? 'review'
      : before?.reviewDelivery !== after?.reviewDelivery
        ? 'reviewDelivery'
        : undefined;
  if (field === undefined) {
    return;
  }
  throw new AppError('FORBIDDEN', {
    status: 403,
    message: `Changing executionPolicy.${field} of a task requires the permission ${reviewing}; send it with the policy.`,
    details: { required: [reviewing], currentRole: auth.role, currentPermissions: auth.permissions },
  });
}
