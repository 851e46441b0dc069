import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Who may schedule an activity. */
export interface ActivityCaller<Ids extends object = Record<string, string | undefined>> {
  /** Types of workflows. */
  workflows: readonly string[];
  /** The workflow that an input is of; any of these workflows when absent. */
  workflowId?: (input: Ids) => string;
}

/** The failure type of an activity that was scheduled by something else than its own workflow. */
export const activityForbidden = 'ACTIVITY_FORBIDDEN';

/**
 * Refuses activities that were not scheduled by a workflow of Runboard, and those that concern another workflow than theirs: by
 * itself, or from a workflow of another name, an activity would pass every check that its workflow makes.
 *
 * @param callers by the name of the activity; one without an entry is refused
 * @param idOf the id that a workflow has within its workspace
 */
export function createActivityFence(
  callers: Readonly<Record<string, ActivityCaller>>,
  idOf: (workflowId: string) => string = (workflowId) => workflowId,
): ActivityInterceptorsFactory {
  const callersByName = new Map(Object.entries(callers));
  return ({ info }) => ({
    inbound: {
      execute(input, next) {
        const { workflowExecution } = info;
        const ownId = workflowExecution && idOf(workflowExecution.workflowId);
        assertCaller(callersByName.get(info.activityType), { ...info, ownId }, input.args[0]);
        return next(input);
      },
    },
  });
}

/** @param info with the id of the workflow within its workspace */
function assertCaller(
  caller: ActivityCaller | undefined,
  info: Info & { ownId: string | undefined },
  input: unknown,
): void {
  const { activityType, workflowType, workflowExecution, ownId } = info;
  const isOurs = caller?.workflows.some((name) => name === workflowType) === true;
  const ids = typeof input === 'object' && input !== null ? (input as Record<string, string | undefined>) : {};
  const expectedId = caller?.workflowId?.(ids);
  if (isOurs && (expectedId === undefined || ownId === expectedId)) {
    return;
  }
  throw ApplicationFailure.create({
    type: activityForbidden,
    message: `${activityType} is scheduled by its own workflow only, not by ${workflowExecution?.workflowId ?? 'itself'}.`,
    nonRetryable: true,
  });
}
