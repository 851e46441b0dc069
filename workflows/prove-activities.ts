import {
  defaultPayloadConverter,
  proxyLocalActivities,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { activityProofHeader, provenWorkflows } from '../platform/temporal/activity-proof';
import type { ActivitySigner } from '../platform/temporal/workers/activity-signer';
import { hasChange } from '../services/workflow-runs/runs/changes';

/** In memory, and so done at once. */
const { signActivity } = proxyLocalActivities<ActivitySigner>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Has the worker prove each activity of the workflows whose activities need it. Local activities of such a workflow run one
 * after the other, those of its own code and the proofs alike: what is done between two that run at the same time would be in
 * another order in a replay.
 */
export function interceptors(): WorkflowInterceptors {
  if (!provenWorkflows.includes(workflowInfo().workflowType)) {
    return {};
  }
  let last: Promise<unknown> = Promise.resolve();
  return {
    outbound: [
      {
        async scheduleActivity(input, next) {
          if (!hasChange('proven-activities')) {
            return next(input);
          }
          const { activityType, args, headers } = input;
          const proof = await signActivity({ activityType, args });
          return next({
            ...input,
            headers: { ...headers, [activityProofHeader]: defaultPayloadConverter.toPayload(proof) },
          });
        },
        scheduleLocalActivity(input, next) {
          if (!hasChange('proven-activities')) {
            return next(input);
          }
          const result = last.then(() => next(input));
          last = result.catch(() => undefined);
          return result;
        },
      },
    ],
  };
}
