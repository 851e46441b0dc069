import { ulid } from 'ulid';
import { AppError } from '../../../../platform/errors/app-error';
import { compact } from '../../../../platform/json/compact';
import type { Model } from '../../../../platform/models/model';
import type { Models } from '../../../../platform/models/models';
import { operationUlid } from '../../../../platform/operations/new-ids';
import { cut } from '../../../../platform/text/cut';
import { currentTraceContext } from '../../../../platform/tracing/spans';
import type { BoardClient } from '../../board/board-client';
import type { CommandSandbox } from '../../commands/command-sandbox';
import { type Graph, type GraphNode, workOf } from '../../graph/graph';
import { refuse } from '../../http/errors';
import { GitFailedError } from '../../snapshots/git';
import type { RunsContext } from '../context';
import type { RunDefaults } from '../defaults';
import { activeStatuses, type RunRecord } from '../run';
import { slugOf } from '../slug';
import type { RunCreate } from './contracts';
import { readGraph } from './read-graph';

/** @throws AppError 429 when there are as many runs as there may be */
export async function assertRoomFor({ runs, env }: RunsContext): Promise<void> {
  const max = env.WORKFLOW_RUNS_MAX_OPEN;
  if ((await runs.count(['queued', ...activeStatuses])) >= max) {
    throw refuse(
      429,
      `${max} runs have not ended, which is the most there may be. Cancel one, or wait until one ends.`,
    );
  }
}

const isPriced = (model: Model, models: Models): boolean =>
  models.isDry(model) ||
  (model.costs.input_cost_per_mtok !== undefined && model.costs.output_cost_per_mtok !== undefined);

/** @throws AppError 400 for a node whose model is not in the catalog, or has no prices although the run has a budget of money */
export function assertModels({ nodes, budget }: Graph, models: Models): void {
  for (const node of Object.values(nodes)) {
    const { id, model, fallbackModels = [] } = node;
    const lost = [...(model === undefined ? [] : [model]), ...fallbackModels].find((name) => !models.find(name));
    if (lost !== undefined) {
      throw refuse(400, `Node "${id}": Model not found: ${lost}`);
    }
    const asked = workOf(node) === 'prompt' ? [model ?? models.default().id, ...fallbackModels] : [];
    const unable = asked.map((name) => models.find(name)).find((found) => found && !found.features.tools);
    if (node.promptTools && unable) {
      throw refuse(400, `Node "${id}": ${unable.id} does not support tools.`);
    }
    const unpriced = asked.map((name) => models.find(name)).find((found) => found && !isPriced(found, models));
    if (budget?.cost !== undefined && unpriced) {
      throw refuse(
        400,
        `Node "${id}": ${unpriced.id} has no prices in the catalog, so that budget_cost would not be kept.`,
      );
    }
  }
}

/** @throws AppError 400 for a schema that is none, or that the answers of a dry run never fit; 429 when too many are checked */
export async function assertSchemas(
  { nodes }: Graph,
  { schemas, models }: Pick<RunsContext, 'schemas' | 'models'>,
): Promise<void> {
  for (const node of Object.values(nodes)) {
    const { id, model, fallbackModels = [], outputSchema } = node;
    if (!outputSchema) {
      continue;
    }
    const asked = workOf(node) === 'prompt' ? [model ?? models.default().id, ...fallbackModels] : [];
    const dry = asked.map((name) => models.find(name)).find((found) => found && models.isDry(found));
    if (dry) {
      throw refuse(400, `Node "${id}": ${dry.id} is not called, and its synthetic answer fits no output_schema.`);
    }
    await schemas.assertSchema(outputSchema).catch((error: unknown) => {
      throw error instanceof AppError && error.status === 422
        ? refuse(400, `Node "${id}": output_${error.message}`)
        : error;
    });
  }
}

/** @throws AppError 400 for a command that this service cannot run */
export async function assertCommands({ nodes }: Graph, sandbox: CommandSandbox | undefined): Promise<void> {
  const problems = new Map<string, Promise<string | undefined>>();
  for (const { id, command } of Object.values(nodes)) {
    if (!command) {
      continue;
    }
    if (!sandbox) {
      throw refuse(400, `Node "${id}": commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.`);
    }
    const preset = command.sandbox ?? sandbox.presets[0];
    const checked = problems.get(preset) ?? sandbox.problem(preset);
    problems.set(preset, checked);
    const problem = await checked;
    if (problem !== undefined) {
      throw refuse(400, `Node "${id}": ${problem}`);
    }
  }
}

/** @throws AppError 400 for an agent or a tool when no board is there to launch or call it */
export function assertAgents({ nodes }: Graph, board: BoardClient | undefined): void {
  const ofBoard = Object.values(nodes).find(({ agent, tool, promptTools }) => agent ?? tool ?? promptTools);
  if (ofBoard && !board) {
    const what = ofBoard.agent ? 'agents are not launched' : 'tools are not called';
    throw refuse(400, `Node "${ofBoard.id}": ${what} here: WORKFLOW_RUNS_BOARD_URL is not set.`);
  }
}

/** @throws AppError 400 for a setup that this service cannot run, or whose program is a value */
export async function assertSetup(
  { setup }: RunCreate,
  sandbox: CommandSandbox | undefined,
  defaults: RunDefaults = {},
): Promise<void> {
  if (!setup) {
    return;
  }
  if (!sandbox) {
    throw refuse(400, 'setup: commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.');
  }
  const at = setup.commands.findIndex(([program = '']) => program.includes('$'));
  if (at >= 0) {
    throw refuse(400, `setup.commands.${at}.0: the program must be written out: only its arguments hold values.`);
  }
  const problem = await sandbox.problem(defaults.sandbox ?? sandbox.presets[0]);
  if (problem !== undefined) {
    throw refuse(400, `setup: ${problem}`);
  }
}

/** Values that runs set themselves, beside those of their nodes. */
const ownValues = /^(?:goal|outcome|last_.*)$/;

/** Values that nodes set, by what they do. */
const suffixes = ({ kind }: GraphNode): string[] => [
  ...['output', 'answer', 'exit_code'],
  ...(kind === 'map' ? ['failures'] : []),
  ...(kind === 'child' ? ['run'] : []),
  ...(kind === 'agent' ? ['status', 'task', 'attempt', 'commit'] : []),
  ...(kind === 'tool' ? ['status', 'call'] : []),
];

/** @throws AppError 400 for a value that the run would replace, or whose name means something else */
export function assertVars({ nodes }: Graph, vars: object = {}): void {
  const all = Object.values(nodes);
  const ofItems = all.some(({ map }) => map !== undefined) ? ['item', 'item_index'] : [];
  const isSet = (name: string): boolean =>
    ownValues.test(name) ||
    ofItems.includes(name) ||
    all.some((node) => suffixes(node).some((value) => name === `${node.id}_${value}`));
  const replaced = Object.keys(vars).find(isSet);
  if (replaced !== undefined) {
    throw refuse(400, `vars.${replaced}: the run sets this value itself. Choose another name.`);
  }
}

/** @throws AppError 400 for a child run of a workflow that has not been run, or that sets the values it would begin with */
export async function assertChildren(
  { nodes }: Graph,
  { workflows, graphs }: Pick<RunsContext, 'workflows' | 'graphs'>,
): Promise<void> {
  const read = new Map<string, Promise<Graph>>();
  for (const { id, child } of Object.values(nodes)) {
    if (!child) {
      continue;
    }
    const found = await workflows.get(child.workflow);
    if (!found) {
      throw refuse(400, `Node "${id}": Workflow not found: ${child.workflow}`);
    }
    try {
      const graph = read.get(child.workflow) ?? readGraph(graphs, found.dot_source);
      read.set(child.workflow, graph);
      assertVars(await graph, Object.fromEntries(child.vars));
    } catch (error) {
      throw error instanceof AppError && error.status === 400 ? refuse(400, `Node "${id}": ${error.message}`) : error;
    }
  }
}

/** @throws AppError 400 for a repository or base that is not there, or a graph without commands, which nothing is checked out for */
export async function repositoryOf(
  { repository, setup, hooks }: RunCreate,
  { nodes }: Graph,
  { snapshots }: Pick<RunsContext, 'snapshots'>,
): Promise<RunRecord['repository']> {
  if (!repository) {
    return undefined;
  }
  if (!setup && !hooks && !Object.values(nodes).some(({ command }) => command !== undefined)) {
    throw refuse(400, 'repository: the graph has no commands, which work in it.');
  }
  const { name, base = 'HEAD' } = repository;
  try {
    return { name, base, commit: await snapshots.resolveBase(name, base) };
  } catch (error) {
    throw error instanceof GitFailedError ? refuse(400, `repository: ${error.message}`) : error;
  }
}

/** The record of a run that is queued. */
export function newRun(
  { dot_source, vars, setup, hooks }: Omit<RunCreate, 'repository'>,
  { name, goal }: Graph,
  { user, at, ...more }: { user: string; at: Date } & { [name in 'repository' | 'defaults']?: RunRecord[name] },
): RunRecord {
  return {
    _id: operationUlid(at, ulid),
    status: 'queued',
    workflow: { name, slug: slugOf(name) },
    title: cut(goal ?? name, 200),
    ...compact({
      trace: currentTraceContext(),
      goal,
      vars,
      setup: setup && compact(setup),
      hooks: hooks?.map(compact),
      ...more,
    }),
    dot_source,
    created_by: user,
    created_at: at.toISOString(),
    stages: [],
    context: { ...vars },
    guidance: [],
    revision: 0,
  };
}
