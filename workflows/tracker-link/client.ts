import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { LinkResult } from '../../activities/trackers/activities';
import type { TrackerProvider } from '../../contracts/integrations/trackers/tracker';
import type { Refusal } from '../../contracts/refusal';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { trackerIntrospectionId, type TrackerIntrospectionInput } from '../tracker-introspection/messages';
import { type TrackerLinkInput, type TrackerLinkOutcome, trackerLinkWorkflowId } from './messages';

interface Timings {
  BOARD_RETRY_BACKOFF_MS: number;
  BOARD_HEARTBEAT_TIMEOUT_MS: number;
}

/** How often a workflow of another operation is met that ends at that moment. */
const tries = 5;

/** The workflows behind the work items of trackers. */
export function createTrackerLauncher(client: Client, env: Timings) {
  const heartbeatTimeoutMs = env.BOARD_HEARTBEAT_TIMEOUT_MS;
  const execute = (linkId: string, taskId: string, operationId: string): Promise<TrackerLinkOutcome> =>
    withinDeadline(client, { pending }, () =>
      client.workflow.execute<(input: TrackerLinkInput) => Promise<TrackerLinkOutcome>>('trackerLink', {
        workflowId: trackerLinkWorkflowId(linkId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `work item of ${taskId}`,
        typedSearchAttributes: [{ key: searchAttributes.taskId, value: taskId }],
        args: [{ linkId, operationId, heartbeatTimeoutMs, retryMs: env.BOARD_RETRY_BACKOFF_MS }],
      }),
    );

  return {
    /**
     * Runs an operation that is in the stores, or joins it, and returns how it ended.
     *
     * @throws AppError 503 `TRACKER_PENDING` when it takes longer than a caller waits: it continues
     */
    async run(linkId: string, taskId: string, operationId: string): Promise<LinkResult> {
      for (let attempt = 1; attempt <= tries; attempt += 1) {
        const outcome = await execute(linkId, taskId, operationId);
        if (outcome.operationId === operationId) {
          return outcome;
        }
      }
      throw pending();
    },

    /** Whether an operation on the link is under way. */
    async isRunning(linkId: string): Promise<boolean> {
      try {
        const { status } = await client.workflow.getHandle(trackerLinkWorkflowId(linkId)).describe();
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) {
          return false;
        }
        throw error;
      }
    },

    /** Has a worker read a project of a tracker, or joins a worker that does. @throws AppError 503 `TRACKER_PENDING` */
    async introspect(
      provider: TrackerProvider,
      project: string,
      by: { requestId: string; actor: string },
    ): Promise<Refusal | null> {
      const { refused } = await withinDeadline(client, { pending }, () =>
        client.workflow.execute<(input: TrackerIntrospectionInput) => Promise<{ refused: Refusal | null }>>(
          'trackerIntrospection',
          {
            workflowId: trackerIntrospectionId(provider, project),
            taskQueue: boardQueue,
            workflowIdConflictPolicy: 'USE_EXISTING',
            staticSummary: `read ${project} of ${provider}`,
            args: [{ provider, project, ...by, heartbeatTimeoutMs }],
          },
        ),
      );
      return refused;
    },
  };
}

const pending = () =>
  new AppError('TRACKER_PENDING', {
    status: 503,
    message: 'The tracker has not responded yet. The request continues: repeat it to learn how it ends.',
    details: { retryAfterMs: 5_000 },
  });
