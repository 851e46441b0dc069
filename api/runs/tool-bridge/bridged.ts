import type { AuthContext } from '../../../platform/http/auth/auth';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

/** Requests of one attempt in a minute: an agent in a loop does not take the service from others. */
export const requestsInMinute = 600;

/** The attempt whose handle was presented. @throws Error on a route that takes no handle */
export async function bridgedAttempt(
  { attempts }: Pick<WorkflowContext, 'attempts'>,
  { attemptId }: Pick<AuthContext, 'attemptId'>,
): Promise<AttemptRecord> {
  const record = attemptId === undefined ? undefined : await attempts.get(attemptId);
  if (!record) {
    throw new Error('This route accepts only the handle of a tool bridge.');
  }
  return record;
}
