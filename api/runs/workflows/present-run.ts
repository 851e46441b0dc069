import type {
  WorkflowRun,
  WorkflowRunStatus,
  WorkflowRunSummary,
  WorkflowStepState,
} from '../../../contracts/runs/workflows/run';
import { compact } from '../../../platform/json/compact';
import { hasEnded, type Stage } from '../../../services/workflow-runs/runs/run';
import type { StepOfRun, WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';

/** Whether a call of a tool waits for the approval of an administrator. */
const awaitsApproval = ({ status, tool }: Stage): boolean => status === 'running' && tool !== undefined;

/** Statuses of the engine, as they are called here. */
function statusOf({ status, stages, questions = [] }: WorkflowRunRecord): WorkflowRunStatus {
  switch (status) {
    case 'queued':
    case 'starting':
      return 'pending';
    case 'running':
    case 'paused':
      return questions.length > 0 || stages.some(awaitsApproval) ? 'blocked' : 'running';
    default:
      return status;
  }
}

export function presentSummary(run: WorkflowRunRecord): WorkflowRunSummary {
  const { workflowId, version, taskId, resumedFrom } = run.board;
  const current = run.stages.find(({ status }) => status === 'running');
  return {
    ...{ id: run._id, revision: run.revision, workflowId, workflowVersion: version, taskId, resumedFrom },
    status: statusOf(run),
    currentStep: run.board.steps.find(({ nodes }) => nodes.includes(current?.dot_id ?? ''))?.stepId ?? null,
    ...{ startedBy: run.created_by, createdAt: run.created_at },
    ...{ startedAt: run.started_at ?? null, endedAt: run.ended_at ?? null, error: run.error?.message ?? null },
  };
}

/** @param run with all of its stages */
export const presentRun = (run: WorkflowRunRecord): WorkflowRun => ({
  ...presentSummary(run),
  context: run.context,
  steps: run.board.steps.map((step) => stepState(run, step)),
});

/** The question of a step that waits for a person. */
export function questionOf({ questions = [], stages }: WorkflowRunRecord, { nodes }: StepOfRun) {
  const nodeOf = new Map(stages.map(({ id, dot_id }) => [id, dot_id ?? id]));
  return questions.find(({ id }) => nodes.includes(nodeOf.get(id) ?? id));
}

export function stepState(run: WorkflowRunRecord, step: StepOfRun): WorkflowStepState {
  const { stepId, name, type, agent, nodes } = step;
  const visits = run.stages.filter(({ dot_id }) => dot_id !== undefined && nodes.includes(dot_id));
  const last = visits.at(-1);
  const question = questionOf(run, step);
  return {
    // A parallel step begins at one node and ends at another.
    ...{
      stepId,
      type,
      visits: visits.filter(({ kind }) => kind !== 'join').length,
      ...compact({ name, agent, question: question?.text }),
      ...(last && awaitsApproval(last) && { approvalId: last.tool?.approval_id }),
    },
    status: question || (last && awaitsApproval(last)) ? 'blocked' : stepStatus(last, run),
    startedAt: visits[0]?.started_at ?? null,
    completedAt: last?.ended_at ?? null,
    durationMs: Math.round(visits.reduce((sum, { duration_secs: seconds = 0 }) => sum + seconds * 1_000, 0)),
    retries: visits.reduce((sum, { retries }) => sum + retries, 0),
    ...compact({ output: run.context[`${stepId}_output`] ?? run.context[`${stepId}_answer`] }),
    error: last?.failure_reason ?? null,
  };
}

function stepStatus(last: Stage | undefined, { status }: WorkflowRunRecord): WorkflowStepState['status'] {
  if (!last) {
    return hasEnded(status) ? 'skipped' : 'pending';
  }
  if (last.kind === 'parallel' && last.status === 'completed') {
    return hasEnded(status) ? 'failed' : 'running';
  }
  if (last.status === 'cancelled') {
    // One that another step has decided about is not needed any more.
    return status === 'completed' || !hasEnded(status) ? 'skipped' : 'failed';
  }
  return last.status;
}
