import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../../../../platform/errors/app-error';
import { treeLimits } from '../../graph/graph';
import type { RunsContext } from '../context';
import { assertAgents, assertCommands, assertModels, assertSchemas, assertVars, newRun } from '../http/new-run';
import { readGraph } from '../http/read-graph';
import { assertOpen } from '../open-run';
import type { RunParent, RunRecord } from '../run';
import type { ChildRunInput } from './activities';

/** The failure type of a child run that cannot be run. */
export const childFailed = 'CHILD';

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, childFailed);

type OpenerDependencies = Pick<
  RunsContext,
  'runs' | 'workflows' | 'graphs' | 'models' | 'schemas' | 'sandbox' | 'board' | 'children' | 'dispatcher' | 'now'
>;

/** What queues child runs. A child run is not refused when as many runs are open as may be: its parent would wait for ever. */
export function createChildRunOpener(dependencies: OpenerDependencies) {
  const { runs, workflows, graphs, children, dispatcher, now } = dependencies;

  /** @throws ApplicationFailure `CHILD` beyond the limits of a tree */
  async function parentOf({ runId, stageId, budgets }: ChildRunInput, parent: RunRecord): Promise<RunParent> {
    const { root = runId, depth = 0 } = parent.parent ?? {};
    if (depth >= treeLimits.depth) {
      throw refused(`Runs have child runs at most ${treeLimits.depth} deep.`);
    }
    if ((await runs.countTree(root)) >= treeLimits.runs) {
      throw refused(`A run has at most ${treeLimits.runs} child runs, those of its child runs included.`);
    }
    return { run_id: runId, stage_id: stageId, root, depth: depth + 1, budgets };
  }

  async function childOf(input: ChildRunInput, parent: RunRecord): Promise<Omit<RunRecord, '_id'>> {
    const { workflow: slug, vars } = input;
    const workflow = await workflows.get(slug);
    if (!workflow) {
      throw refused(`Workflow not found: ${slug}`);
    }
    const { dot_source } = workflow;
    const graph = await readGraph(graphs, dot_source);
    assertModels(graph, dependencies.models);
    assertVars(graph, vars);
    assertAgents(graph, dependencies.board);
    await assertCommands(graph, dependencies.sandbox);
    await assertSchemas(graph, dependencies);
    const of = await parentOf(input, parent);
    return { ...newRun({ dot_source, vars }, graph, { user: parent.created_by, at: now() }), parent: of, held: true };
  }

  /** Holds a queued run back exactly while its parent is paused, which may change meanwhile. */
  async function holdWhilePaused(runId: string, parentId: string): Promise<void> {
    const isPaused = async (): Promise<boolean> => (await runs.get(parentId))?.status === 'paused';
    let held: boolean;
    do {
      held = await isPaused();
      await runs.change(runId, ['queued'], { held });
    } while (held !== (await isPaused()));
  }

  /** Has a queued run begin with the guidance of its parent: what comes from now on reaches it as a child run. */
  async function passGuidance(runId: string, parentId: string): Promise<void> {
    for (const { id, ...guidance } of (await runs.get(parentId))?.guidance ?? []) {
      if (id !== undefined) {
        await runs.addGuidance(runId, { ...guidance, id });
      }
    }
  }

  return async (input: ChildRunInput): Promise<string> => {
    const parent = await runs.get(input.runId);
    if (!parent) {
      throw refused('The run does not exist.');
    }
    assertOpen(parent);
    const _id = await children.idOf(input, now());
    if (!(await runs.get(_id))) {
      const child: RunRecord = { ...(await childOf(input, parent).catch(asRefusal)), _id };
      await runs.insertOnce(child);
      await workflows.note(child);
    }
    await passGuidance(_id, parent._id);
    await holdWhilePaused(_id, parent._id);
    await dispatcher.lookAgain();
    return _id;
  };
}

/** What a caller would be refused with is no reason to try again, unless it passes. */
function asRefusal(error: unknown): never {
  throw error instanceof AppError && error.status < 429 ? refused(error.message) : error;
}

export type ChildRunOpener = ReturnType<typeof createChildRunOpener>;
