import { ulid } from 'ulid';
import { compact } from '../../../../platform/json/compact';
import type { Models } from '../../../../platform/models/models';
import { operationUlid } from '../../../../platform/operations/new-ids';
import type { CommandSandbox } from '../../commands/command-sandbox';
import type { Graph } from '../../graph/graph';
import { refuse } from '../../http/errors';
import type { RunsContext } from '../context';
import { activeStatuses, type RunRecord, type RunVars } from '../run';
import type { RunCreate } from './contracts';

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

/** @throws AppError 400 for a node whose model is not in the catalog */
export function assertModels({ nodes }: Graph, models: Models): void {
  const lost = Object.values(nodes).find(({ model }) => model !== undefined && !models.find(model));
  if (lost) {
    throw refuse(400, `Node "${lost.id}": Model not found: ${lost.model ?? ''}`);
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

/** Values that runs set themselves, beside those of their nodes. */
const ownValues = /^(?:goal|outcome|last_.*)$/;

/** @throws AppError 400 for a value that the run would replace, or whose name means something else */
export function assertVars({ nodes }: Graph, vars: RunVars = {}): void {
  const ids = Object.keys(nodes);
  const isSet = (name: string): boolean =>
    ownValues.test(name) ||
    ids.some((id) => ['output', 'answer', 'exit_code'].some((value) => name === `${id}_${value}`));
  const replaced = Object.keys(vars).find(isSet);
  if (replaced !== undefined) {
    throw refuse(400, `vars.${replaced}: the run sets this value itself. Choose another name.`);
  }
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64) || 'workflow';

/** The record of a run that is queued. */
export function newRun(
  { dot_source, vars }: RunCreate,
  { name, goal }: Graph,
  { user, at }: { user: string; at: Date },
): RunRecord {
  return {
    _id: operationUlid(at, ulid),
    status: 'queued',
    workflow: { name, slug: slugOf(name) },
    title: (goal ?? name).slice(0, 200),
    ...compact({ goal, vars }),
    dot_source,
    created_by: user,
    created_at: at.toISOString(),
    stages: [],
    context: { ...vars },
    guidance: [],
    revision: 0,
  };
}
