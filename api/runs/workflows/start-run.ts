import { ulid } from 'ulid';
import type { WorkflowDefinition, WorkflowVariables } from '../../../contracts/runs/workflows/definition';
import { maxOpenRuns } from '../../../contracts/runs/workflows/run';
import { graphIssues } from '../../../domain/workflows/check';
import { beginningAt, type CompiledDefinition, compileDefinition } from '../../../domain/workflows/compile';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { operationUlid } from '../../../platform/operations/new-ids';
import { operationTime } from '../../../platform/operations/operation';
import type { Graph } from '../../../services/workflow-runs/graph/graph';
import type { RunVars } from '../../../services/workflow-runs/runs/run';
import type { StepOfRun, WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import type { WorkflowRecord } from '../../../stores/runs/workflows/workflow-store';
import type { WorkflowContext } from '../../context';
import { variablesOf } from './variables';

export type RunContext = Pick<WorkflowContext, 'workflows' | 'workflowRuns' | 'workflowRunClient' | 'board' | 'log'>;

const open = ['queued', 'starting', 'running', 'paused'] as const;
/** A task's description as a value of its run. */
const maxDescription = 8_000;

function stepsOf({ steps }: WorkflowDefinition, { nodesOf }: CompiledDefinition): StepOfRun[] {
  return steps.flatMap((step) => {
    const own = {
      ...{ stepId: step.id, type: step.type, nodes: nodesOf[step.id] ?? [] },
      ...compact({ name: step.name, agent: 'agent' in step ? step.agent : undefined }),
    };
    const branches = step.type === 'parallel' ? step.parallel.steps : [];
    return [
      own,
      ...branches.map(({ id, name, agent }) => ({
        ...{ stepId: id, type: 'agent', agent, nodes: nodesOf[id] ?? [] },
        ...compact({ name }),
      })),
    ];
  });
}

interface NewRun {
  actor: string;
  taskId?: string | undefined;
  context?: WorkflowVariables | undefined;
}

/**
 * Starts a run of the newest version of a workflow.
 *
 * @throws AppError 400 for values that the workflow does not take, 404 for a task that does not exist, 429
 */
export async function startRun(
  context: RunContext,
  { id: workflowId, definition, version }: WorkflowRecord,
  { actor, taskId, context: given }: NewRun,
): Promise<WorkflowRunRecord> {
  const read = variablesOf(definition, given);
  if ('issues' in read) {
    throw validationError(read.issues);
  }
  const compiled = compileDefinition(definition, read.values);
  const issues = graphIssues(compiled);
  if (issues.length > 0) {
    throw validationError(issues);
  }
  const task = taskId === undefined ? undefined : (await context.board.get(taskId))?.task;
  if (taskId !== undefined) {
    assertFound(task, 'task', taskId);
  }
  const withoutTask = Object.values(compiled.graph.nodes).find(({ launch }) => launch && launch.input === undefined);
  if (withoutTask?.launch && !task) {
    const message = `is required: the step ${withoutTask.launch.stepId} has no input, and works on the task of the run`;
    throw validationError([{ path: 'taskId', message }]);
  }
  const vars: RunVars = {
    ...scalars(read.values),
    ...(task && {
      task_id: task.id,
      task_title: task.title,
      task_description: (task.description ?? '').slice(0, maxDescription),
    }),
  };
  return begin(context, {
    ...{ actor, workflowId, version, name: definition.name, graph: compiled.graph, vars },
    ...{ taskId: task?.id ?? null, resumedFrom: null, steps: stepsOf(definition, compiled) },
  });
}

const scalars = (values: WorkflowVariables): RunVars =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, value] as const])),
  );

/**
 * Starts a run that continues a failed one at the step that failed, with the values that it had. What was completed is not done
 * again.
 *
 * @throws AppError 409 for a run that has not failed
 */
export async function resumeRun(
  context: RunContext,
  run: WorkflowRunRecord,
  { actor, context: given = {} }: NewRun,
): Promise<WorkflowRunRecord> {
  if (run.status !== 'failed' && run.status !== 'cancelled') {
    const message = 'Only a run that has failed or was cancelled is resumed.';
    throw conflict(message, { runId: run._id, status: run.status }, 'WORKFLOW_RUN_NOT_RESUMABLE');
  }
  const { vars = {} } = run;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(vars, name) || Array.isArray(given[name]));
  if (unknown.length > 0) {
    throw validationError(
      unknown.map((name) => ({ path: `context.${name}`, message: 'is no variable of the run with one value' })),
    );
  }
  const graph = JSON.parse(run.dot_source) as Graph;
  const values = { ...run.context, ...scalars(given) };
  return begin(context, {
    ...{ actor, workflowId: run.board.workflowId, version: run.board.version, name: run.workflow.name },
    graph: beginningAt(graph, resumptionOf(run, graph)),
    vars: Object.fromEntries(
      Object.entries(values).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
    ) as RunVars,
    ...{ taskId: run.board.taskId, resumedFrom: run._id, steps: run.board.steps },
  });
}

/** The node that a failed run is continued at: the one that failed last, or the parallel step that it is a branch of. */
function resumptionOf({ stages }: WorkflowRunRecord, graph: Graph): string {
  const last = [...stages]
    .reverse()
    .find(({ kind, dot_id }) => kind !== 'fail' && kind !== 'join' && kind !== 'parallel' && graph.nodes[dot_id ?? '']);
  const node = last?.dot_id ?? '';
  const around = graph.edges.find(({ from, to }) => to === node && graph.nodes[from]?.kind === 'parallel');
  const first = graph.edges.find(({ from }) => from === graph.start)?.to ?? '';
  return around?.from ?? (node === '' || node === graph.start ? first : node);
}

async function begin(
  { workflowRuns, workflowRunClient, log }: RunContext,
  {
    actor,
    workflowId,
    version,
    name,
    graph,
    vars,
    ...board
  }: {
    actor: string;
    workflowId: string;
    version: number;
    name: string;
    graph: Graph;
    vars: RunVars;
  } & Pick<WorkflowRunRecord['board'], 'taskId' | 'resumedFrom' | 'steps'>,
): Promise<WorkflowRunRecord> {
  if ((await workflowRuns.count({ statuses: open })) >= maxOpenRuns) {
    const message = `${maxOpenRuns} workflow runs have not ended, the most there may be. Cancel one, or wait for its end.`;
    throw new AppError('TOO_MANY_WORKFLOW_RUNS', { status: 429, message, details: { retryAfterMs: 60_000 } });
  }
  const at = operationTime();
  const run = await workflowRuns.begin({
    ...{ _id: operationUlid(at, ulid), status: 'queued', workflow: { name, slug: workflowId }, title: name },
    ...{ vars, dot_source: JSON.stringify(graph), created_by: actor, created_at: at.toISOString() },
    ...{ stages: [], context: { ...vars }, guidance: [], revision: 0, board: { workflowId, version, ...board } },
  });
  // It is stored: the workers start what was not started here, within a minute.
  await workflowRunClient
    .start(run)
    .catch((error: unknown) => log.warn({ err: error, runId: run._id }, 'workflow run start deferred'));
  return run;
}
