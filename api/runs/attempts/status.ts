import type { z } from 'zod';
import { activeAttemptStates, type runStatus } from '../../../contracts/runs/attempt';
import { causeOf } from '../../../domain/completion';
import { runControls } from '../../../domain/controls';
import { assertFound } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { type AttemptRecord, presentAttempt } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

/** The latest attempt of a task with its contract and what can be done to it now. */
export async function readStatus(context: WorkflowContext, taskId: string): Promise<z.infer<typeof runStatus>> {
  const record = await context.attempts.latest(taskId);
  if (!record) {
    const task = await context.board.get(taskId);
    assertFound(task, 'task', taskId);
  }
  return {
    taskId,
    running: record !== undefined && activeAttemptStates.includes(record.state) && record.state !== 'queued',
    attemptId: record?._id ?? null,
    agent: record?.agent ?? null,
    provider: record?.provider ?? null,
    state: record?.state ?? null,
    attempt: record ? presentAttempt(record) : null,
    ...compact({ failure: record && failureOf(record) }),
    providerRuntimeManifest: record?.providerRuntimeManifest ?? null,
    runLaunchManifest: record?.runLaunchManifest ?? null,
    taskEnvelope: record?.taskEnvelope ?? null,
    lastSequence: record ? await context.events.last(record._id) : 0,
    controls: runControls(record?.providerRuntimeManifest),
  };
}

/** Lines of the log that show how a run ended. */
const lastEvents = 40;

/** Why the attempt did not succeed, and where to read more. */
function failureOf({ _id, taskId, completion }: AttemptRecord): z.infer<typeof runStatus>['failure'] {
  const cause = completion && causeOf(completion);
  return cause === undefined
    ? undefined
    : { cause, log: `/api/agents/${taskId}/attempts/${_id}/log?last=${lastEvents}` };
}
