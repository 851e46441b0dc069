import type { WorkflowIssue } from '../../../contracts/runs/workflows/authoring';
import type { WorkflowDefinition, WorkflowVariables } from '../../../contracts/runs/workflows/definition';
import { graphIssues } from '../../../domain/workflows/check';
import { beginningAt, type CompiledDefinition, compileDefinition } from '../../../domain/workflows/compile';
import { variablesOf } from '../../../domain/workflows/variables';
import { compact } from '../../../platform/json/compact';
import type { Graph } from '../../../services/workflow-runs/graph/graph';
import type { RunVars } from '../../../services/workflow-runs/runs/run';
import type { StepOfRun, WorkflowRunRecord } from './workflow-run-store';
import type { WorkflowRecord } from './workflow-store';

/** A task's description as a value of its run. */
const maxDescription = 8_000;

/** What every new run is given. */
interface Beginning {
  /** A ULID. */
  id: string;
  actor: string;
  at: Date;
}

/** The record of a run of the newest version of a workflow, or why there can be none. */
export function newWorkflowRun(
  { id: workflowId, definition, version }: Pick<WorkflowRecord, 'id' | 'definition' | 'version'>,
  beginning: Beginning,
  {
    context,
    task,
  }: {
    context?: WorkflowVariables | undefined;
    task?: { id: string; title: string; type: string; description?: string | undefined } | undefined;
  },
): WorkflowRunRecord | { issues: WorkflowIssue[] } {
  const read = variablesOf(definition, context);
  if ('issues' in read) {
    return read;
  }
  const compiled = compileDefinition(definition, read.values);
  const issues = graphIssues(compiled);
  if (issues.length > 0) {
    return { issues };
  }
  const withoutInput = Object.values(compiled.graph.nodes).find(({ launch }) => launch && launch.input === undefined);
  if (withoutInput?.launch && !task) {
    const message = `is required: the step ${withoutInput.launch.stepId} has no input, and works on the task of the run`;
    return { issues: [{ path: 'taskId', message }] };
  }
  const ofTask = task && {
    ...{ task_id: task.id, task_title: task.title },
    task_description: (task.description ?? '').slice(0, maxDescription),
  };
  if (!task && definition.outputTargets?.some(({ type }) => type === 'comment')) {
    return {
      issues: [{ path: 'taskId', message: 'is required: the result is written as a comment on the task of the run' }],
    };
  }
  return record(beginning, {
    ...{ name: definition.name, graph: compiled.graph, vars: { ...scalars(read.values), ...ofTask } },
    board: {
      ...{ workflowId, version, taskId: task?.id ?? null, resumedFrom: null },
      ...compact({ taskType: task?.type }),
      steps: stepsOf(definition, compiled),
    },
  });
}

/** The record of a run that continues another one at the step that failed, with the values that it had. */
export function resumedWorkflowRun(
  run: WorkflowRunRecord,
  beginning: Beginning,
  given: WorkflowVariables,
): WorkflowRunRecord | { issues: WorkflowIssue[] } {
  const { vars = {} } = run;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(vars, name) || Array.isArray(given[name]));
  if (unknown.length > 0) {
    const message = 'is no variable of the run with one value';
    return { issues: unknown.map((name) => ({ path: `context.${name}`, message })) };
  }
  const graph = JSON.parse(run.dot_source) as Graph;
  const values = Object.entries({ ...run.context, ...scalars(given) });
  return record(beginning, {
    ...{ name: run.workflow.name, graph: beginningAt(graph, failedNode(run, graph)) },
    vars: Object.fromEntries(
      // Outputs that are JSON are values as well.
      values.filter(([, value]) => value !== null && value !== undefined),
    ) as RunVars,
    board: { ...run.board, resumedFrom: run._id },
  });
}

/** The node that a run came to last, or the parallel step that it is a branch of. */
function failedNode({ stages }: WorkflowRunRecord, graph: Graph): string {
  const passed: readonly string[] = ['fail', 'join', 'parallel', 'start'];
  const last = [...stages].reverse().find(({ kind, dot_id }) => !passed.includes(kind) && graph.nodes[dot_id ?? '']);
  const around = graph.edges.find(({ from, to }) => to === last?.dot_id && graph.nodes[from]?.kind === 'parallel');
  const first = graph.edges.find(({ from }) => from === graph.start)?.to ?? graph.start;
  return around?.from ?? last?.dot_id ?? first;
}

function record(
  { id, actor, at }: Beginning,
  { name, graph, vars, board }: { name: string; graph: Graph; vars: RunVars; board: WorkflowRunRecord['board'] },
): WorkflowRunRecord {
  return {
    ...{ _id: id, status: 'queued', workflow: { name, slug: board.workflowId }, title: name },
    ...{ vars, dot_source: JSON.stringify(graph), created_by: actor, created_at: at.toISOString() },
    ...{ stages: [], context: { ...vars }, guidance: [], revision: 0, board },
  };
}

const scalars = (values: WorkflowVariables): RunVars =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, value] as const])),
  );

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
