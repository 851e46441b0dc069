import { isCancellation } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { GraphNode } from '../../graph/graph';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { reasonOf, RunFailedError } from '../execution/run-failed';
import type { StageContext, Worked } from '../execution/stages';
import { doesWork } from '../hooked-nodes';
import type { HookEvent, RunHook, RunHooks, Stage } from '../run';
import { commandStarter, filledCommand, noteSnapshot } from './command';

/** How long a hook may take that sets no time, in milliseconds. */
const usualHookMs = 60_000;
const reasonCharacters = 1_000;

/** What hooks are run at. */
export interface Occasion {
  event: HookEvent;
  /** The visit of a node; absent for the run itself. */
  at?: { node: GraphNode; stage: Stage };
  /** Why it has failed. */
  failure?: string;
}

const isFor = ({ event, nodes }: RunHook, occasion: Occasion): boolean =>
  event === occasion.event && (nodes === undefined || nodes.includes(occasion.at?.node.id ?? ''));

const blocks = ({ event, blocking }: RunHook): boolean => blocking ?? event.endsWith('_start');

/**
 * Runs the hooks of an event one after the other, up to the first blocking one that fails. The execution does not continue as new
 * before they have ended: none is run again by the next one.
 *
 * @returns why that one failed
 * @throws only when the run is cancelled
 */
export async function runHooks(occasion: Occasion, run: StageContext): Promise<string | undefined> {
  const { hooks, continuation } = run;
  const list = hooks?.list ?? [];
  if (!hooks || !list.some((hook) => isFor(hook, occasion))) {
    return undefined;
  }
  return continuation.duringPrompt(async () => {
    for (const [index, hook] of list.entries()) {
      const failure = isFor(hook, occasion) ? await runHook({ hook, index, hooks }, occasion, run) : undefined;
      if (failure !== undefined && blocks(hook)) {
        return cut(`The hook ${nameOf(hook)} failed: ${failure}`, reasonCharacters);
      }
    }
    return undefined;
  });
}

/** Runs the hooks of an event of the run. @throws RunFailedError when a blocking one fails */
export async function assertHooks(occasion: Occasion, run: StageContext): Promise<void> {
  const failure = await runHooks(occasion, run);
  if (failure !== undefined) {
    throw new RunFailedError(failure);
  }
}

/**
 * Does the work of a stage between its hooks. One that blocks its start has it fail without its work, and one that blocks its
 * completion has it fail after it.
 *
 * @throws what the work throws
 */
export async function withHooks(
  { node, underWay }: { node: GraphNode; underWay: StageUnderWay },
  run: StageContext,
  work: () => Promise<Worked>,
): Promise<Worked> {
  const { stage } = underWay;
  // Items of maps and commands of the setup are no visits of a node.
  if (!run.hooks || stage.parent !== undefined || !doesWork(node)) {
    return work();
  }
  const hooksOf = (event: HookEvent, failure?: string): Promise<string | undefined> =>
    runHooks({ event, at: { node, stage }, ...(failure !== undefined && { failure }) }, run);
  if (!underWay.started) {
    const refused = await hooksOf('stage_start');
    if (refused !== undefined) {
      await hooksOf('stage_failed', refused);
      return failedBy(refused);
    }
    underWay.started = true;
  }
  let worked: Worked;
  try {
    worked = await work();
  } catch (error) {
    if (!(error instanceof SuspendedError) && !isCancellation(error)) {
      await hooksOf('stage_failed', reasonOf(error));
    }
    throw error;
  }
  const { outcome, reported } = worked;
  if (outcome.outcome === 'fail') {
    await hooksOf('stage_failed', outcome.reason);
    return worked;
  }
  const refused = await hooksOf('stage_complete');
  if (refused === undefined) {
    return worked;
  }
  await hooksOf('stage_failed', refused);
  return failedBy(refused, reported);
}

const failedBy = (reason: string, reported: Worked['reported'] = {}): Worked => ({
  outcome: { outcome: 'fail', reason },
  reported: { ...reported, failure_reason: reason },
});

const nameOf = ({ name, command }: RunHook): string => name ?? cut(command.join(' '), 100);

interface PlacedHook {
  hook: RunHook;
  /** Its position among the hooks of the run. */
  index: number;
  hooks: Omit<RunHooks, 'list'>;
}

/** @returns why it failed */
async function runHook(
  { hook, index, hooks: { sandbox, directory } }: PlacedHook,
  { event, at, failure }: Occasion,
  run: StageContext,
): Promise<string | undefined> {
  const { runId, graph, progress } = run;
  const { timeout_ms: timeoutMs = usualHookMs, command } = hook;
  const stage = progress.beginHook({ name: nameOf(hook), event }, index, at?.stage);
  const { id: stageId } = stage;
  try {
    const argv = filledCommand(command, run);
    const start = await commandStarter({ stageId, timeoutMs }, run);
    const result = await start({
      ...{ runId, stageId, argv, timeoutMs, preset: sandbox ?? '', attempt: 1 },
      ...(directory !== undefined && { directory }),
      environment: {
        ...{ RUNBOARD_EVENT: event, RUNBOARD_RUN_ID: runId, RUNBOARD_WORKFLOW: graph.name },
        ...(at && { RUNBOARD_NODE_ID: at.node.id, RUNBOARD_STAGE_ID: at.stage.id }),
        ...(failure !== undefined && { RUNBOARD_FAILURE: failure.replaceAll('\0', '') }),
      },
    });
    noteSnapshot(stageId, result.snapshot, progress);
    const touched = result.snapshot && 'touched' in result.snapshot ? { files_touched: result.snapshot.touched } : {};
    const notes = result.output === '' ? {} : { notes: cut(result.output, 200) };
    const reason = result.failure === undefined ? {} : { failure_reason: result.failure };
    progress.endStage(stage, result.failure === undefined ? 'completed' : 'failed', {
      ...touched,
      ...notes,
      ...reason,
    });
    return result.failure;
  } catch (error) {
    if (isCancellation(error)) {
      progress.endStage(stage, 'cancelled');
      throw error;
    }
    const failure_reason = reasonOf(error);
    progress.endStage(stage, 'failed', { failure_reason });
    return failure_reason;
  }
}
