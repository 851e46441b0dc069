import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { contextOfHeaders } from './header';
import { inSpan, SpanKind } from './spans';

/** Opens a span for each try of an activity, as a part of the call that its workflow was started by. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) =>
      inSpan(
        {
          name: `RunActivity:${info.activityType}`,
          kind: SpanKind.SERVER,
          attributes: {
            'temporal.workflow_id': info.workflowExecution?.workflowId ?? '',
            'temporal.run_id': info.workflowExecution?.runId ?? '',
            'temporal.workflow_type': info.workflowType ?? '',
            'temporal.task_queue': info.taskQueue,
            'temporal.activity_id': info.activityId,
            'temporal.attempt': info.attempt,
          },
          parent: contextOfHeaders(input.headers),
        },
        () => next(input),
      ),
  },
});
