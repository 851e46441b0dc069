import { CancellationScope, isCancellation, patched, proxyActivities } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { ChildNode, GraphNode } from '../../graph/graph';
import { valueAt, valueText } from '../../graph/values';
import type { ChildEnd, ChildRunActivities } from '../children/activities';
import type { StageUnderWay } from '../execution/cursor';
import { cancelChildRuns as cancelBounded } from '../execution/lifecycle/proxies';
import { type StageContext, wait, type Worked } from '../execution/stages';
import type { RunVars } from '../run';
import { nextAttempt, noteFailure } from './attempts';

const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

const { openChildRun, cancelChildRuns } = proxyActivities<Pick<ChildRunActivities, 'openChildRun' | 'cancelChildRuns'>>(
  { startToCloseTimeout: '2 minutes', heartbeatTimeout: '15 seconds', retry },
);

/** A run is read again after so long when its end is not reported, twice as long each time, in milliseconds. */
const pause = { first: 30_000, longest: 600_000 };

/** Starts a run of another workflow and waits for its end, again as often as the node allows when it fails. */
export async function runChild(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress, values } = run;
  const { child, maxRetries } = node;
  const { stage } = underWay;
  if (!child) {
    throw new Error(`${node.id} starts no child run.`);
  }
  for (;;) {
    const attempt = underWay.child ? (underWay.attempt ?? 1) : await nextAttempt(node, underWay, run);
    underWay.child ??= await begin(child, { node, underWay, run, attempt });
    const { id } = underWay.child;
    const { status, output, error } = await untilEndOrCancelled(underWay.child, run, child.output);
    delete underWay.child;
    progress.record({ ChildRunEnded: { stage_id: stage.id, run_id: id, status } }, id);
    const retries = attempt - 1;
    if (status === 'completed') {
      values.set({ [`${node.id}_output`]: output, last_output: output, [`${node.id}_run`]: id });
      return { outcome: { outcome: 'success' }, reported: { retries, notes: cut(valueText(output), 200) } };
    }
    const reason = `Its child run ${id} ${status === 'cancelled' ? 'was cancelled.' : `failed: ${error ?? ''}`}`.trim();
    if (attempt > maxRetries) {
      values.set({ [`${node.id}_run`]: id });
      return { outcome: { outcome: 'fail', reason }, reported: { retries, failure_reason: reason } };
    }
    progress.record({ StageRetrying: { stage_id: stage.id, attempt, error: reason } }, `${stage.id}/try/${attempt}`);
    noteFailure(node, underWay, attempt);
  }
}

async function begin(
  { workflow, vars }: ChildNode,
  around: { node: GraphNode; underWay: StageUnderWay; run: StageContext; attempt: number },
): Promise<NonNullable<StageUnderWay['child']>> {
  const { node, underWay, run, attempt } = around;
  const { runId, progress, values, continuation, tree } = run;
  const given = values.all();
  const passed: RunVars = Object.fromEntries(vars.map(([name, path]) => [name, scalar(valueAt(given, path))]));
  progress.hasChildren = true;
  await progress.flush();
  const open = (): Promise<string> =>
    continuation.duringPrompt(() =>
      openChildRun.executeWithOptions({ summary: `start child run of ${underWay.stage.id}` }, [
        { runId, stageId: underWay.stage.id, attempt, workflow, vars: passed, budgets: [...tree.budgets] },
      ]),
    );
  // What is queued is cancelled when its stage is cancelled meanwhile.
  const id = await (isEndedWithStage() ? CancellationScope.nonCancellable(open) : open());
  progress.beginChild(underWay.stage, id);
  await progress.flush();
  return { id, ...(node.timeoutMs !== undefined && { untilMs: Date.now() + node.timeoutMs }) };
}

/** What a run may begin with; lists and objects as JSON. */
const scalar = (value: unknown): string | number | boolean =>
  typeof value === 'number' || typeof value === 'boolean' ? value : valueText(value);

/** Whether a stage that is cancelled ends its child run; in runs of earlier versions the end of the parent does. */
const isEndedWithStage = (): boolean => patched('child-of-cancelled-stage');

/** A child run that is waited for no longer, since another branch has decided or its parent is cancelled, is cancelled. */
async function untilEndOrCancelled(...[child, run, output]: Parameters<typeof untilEnd>): Promise<ChildEnd> {
  try {
    return await untilEnd(child, run, output);
  } catch (error) {
    if (isCancellation(error) && isEndedWithStage()) {
      const cancelled = { runId: run.runId, childId: child.id };
      await CancellationScope.nonCancellable(() => cancelBounded(cancelled).catch(() => undefined));
    }
    throw error;
  }
}

/** @throws SuspendedError when the execution continues as new first */
async function untilEnd(
  { id: childId, untilMs = Infinity }: NonNullable<StageUnderWay['child']>,
  run: StageContext,
  output: string[],
): Promise<ChildEnd> {
  const { runId, tree } = run;
  for (let pauseMs = pause.first; ; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    tree.reported.delete(childId);
    const end = await tree.read({ runId, childId, output });
    if (end) {
      return end;
    }
    if (Date.now() >= untilMs) {
      await cancelChildRuns({ runId, childId });
      return { status: 'failed', error: 'It was cancelled when its time was over.' };
    }
    const lookMs = Math.min(untilMs, Date.now() + pauseMs);
    await wait(() => tree.reported.has(childId), run, { untilMs: lookMs, summary: `end of child run ${childId}` });
  }
}
