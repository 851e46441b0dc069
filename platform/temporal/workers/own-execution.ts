import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SchedulingExecution } from '../activity-proof';
import { activityForbidden } from './activity-fence';

/**
 * The execution that has scheduled the present activity, which this worker runs: the activity is local. Any workflow could have
 * scheduled another one, under the name of ours.
 *
 * @param refusal the message to everything else
 * @throws ApplicationFailure `ACTIVITY_FORBIDDEN`
 */
export function ownExecution(refusal: string): SchedulingExecution {
  const { isLocal, workflowExecution } = Context.current().info;
  if (!isLocal || !workflowExecution) {
    throw ApplicationFailure.nonRetryable(refusal, activityForbidden);
  }
  return workflowExecution;
}
