import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { activityCallers, type ActivityCaller } from './activity-callers';

/** The failure type of an activity that was scheduled by something else than its own workflow. */
export const activityForbidden = 'ACTIVITY_FORBIDDEN';

/**
 * Refuses activities that were not scheduled by a workflow of ours, and those that concern another workflow than theirs: by
 * itself, or from a workflow of another name, an activity would pass every check that its workflow makes.
 */
export const activityFence: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      assertScheduledByOwnWorkflow(info, input.args[0]);
      return next(input);
    },
  },
});

const callers = new Map<string, ActivityCaller>(Object.entries(activityCallers));

function assertScheduledByOwnWorkflow(info: Info, input: unknown): void {
  const { activityType, workflowType, workflowExecution } = info;
  const caller = callers.get(activityType);
  const ofOurs = caller?.workflows.some((name) => name === workflowType) === true;
  const ids = typeof input === 'object' && input !== null ? input : {};
  const expectedId = caller?.workflowId?.(ids);
  if (ofOurs && (expectedId === undefined || workflowExecution?.workflowId === expectedId)) return;
  throw ApplicationFailure.create({
    type: activityForbidden,
    message: `${activityType} is scheduled by its own workflow only, not by ${workflowExecution?.workflowId ?? 'itself'}.`,
    nonRetryable: true,
  });
}
