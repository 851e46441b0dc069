import { ulid } from 'ulid';
import type { WorkflowIssue } from '../../../contracts/runs/workflows/authoring';
import type { WorkflowVariables } from '../../../contracts/runs/workflows/definition';
import { maxOpenRuns } from '../../../contracts/runs/workflows/run';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { operationUlid } from '../../../platform/operations/new-ids';
import { operationTime } from '../../../platform/operations/operation';
import { newWorkflowRun, resumedWorkflowRun } from '../../../stores/runs/workflows/new-run';
import { openRunStatuses, type WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import type { WorkflowRecord } from '../../../stores/runs/workflows/workflow-store';
import type { WorkflowContext } from '../../context';

export type RunContext = Pick<WorkflowContext, 'workflows' | 'workflowRuns' | 'workflowRunClient' | 'board' | 'log'>;

interface NewRun {
  actor: string;
  taskId?: string | undefined;
  context?: WorkflowVariables | undefined;
}

function beginningOf({ actor }: NewRun) {
  const at = operationTime();
  return { id: operationUlid(at, ulid), actor, at };
}

/**
 * Starts a run of the newest version of a workflow.
 *
 * @throws AppError 400 for values that the workflow does not take, 404 for a task that does not exist, 429
 */
export async function startRun(context: RunContext, workflow: WorkflowRecord, run: NewRun): Promise<WorkflowRunRecord> {
  const { taskId } = run;
  const task = taskId === undefined ? undefined : (await context.board.get(taskId))?.task;
  if (taskId !== undefined) {
    assertFound(task, 'task', taskId);
  }
  return begin(context, newWorkflowRun(workflow, beginningOf(run), { context: run.context, task }));
}

/**
 * Starts a run that continues a failed one at the step that failed, with the values that it had. What was completed is not done
 * again.
 *
 * @throws AppError 409 for a run that has not failed
 */
export async function resumeRun(
  context: RunContext,
  failed: WorkflowRunRecord,
  run: NewRun,
): Promise<WorkflowRunRecord> {
  const { status, _id: runId } = failed;
  if (status !== 'failed' && status !== 'cancelled') {
    const message = 'Only a run that has failed or was cancelled is resumed.';
    throw conflict(message, { runId, status }, 'WORKFLOW_RUN_NOT_RESUMABLE');
  }
  return begin(context, resumedWorkflowRun(failed, beginningOf(run), run.context ?? {}));
}

async function begin(
  { workflowRuns, workflowRunClient, log }: RunContext,
  made: WorkflowRunRecord | { issues: WorkflowIssue[] },
): Promise<WorkflowRunRecord> {
  if ('issues' in made) {
    throw validationError(made.issues);
  }
  if ((await workflowRuns.count({ statuses: openRunStatuses })) >= maxOpenRuns) {
    const message = `${maxOpenRuns} workflow runs have not ended, the most there may be. Cancel one, or wait for its end.`;
    throw new AppError('TOO_MANY_WORKFLOW_RUNS', { status: 429, message, details: { retryAfterMs: 60_000 } });
  }
  const run = await workflowRuns.begin(made);
  // It is stored: the workers start what was not started here, within a minute.
  await workflowRunClient
    .start(run)
    .catch((error: unknown) => log.warn({ err: error, runId: run._id }, 'workflow run start deferred'));
  return run;
}
