import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import { serversOf } from '../../graph/tool-servers';
import { hasChange } from '../changes';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { type StageContext, wait } from '../execution/stages';
import type { ToolActivities, ToolCallInput, ToolEnd } from './tool-messages';

const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

const { openToolCatalog, callTool } = proxyActivities<Pick<ToolActivities, 'openToolCatalog' | 'callTool'>>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});
/** A board that is not reached in this time does not keep a run from its end. */
const { withdrawToolCall } = proxyActivities<Pick<ToolActivities, 'withdrawToolCall'>>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '3 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** How long a call is waited for at a time, in milliseconds; its history is as short as that is long. */
const lookMs = 120_000;
/** How long it is waited for before it is known what it waits for, in milliseconds: its run is not cancelled in this time. */
const firstLookMs = 1_000;
/** The pause before the board is asked again that could not be asked, which is doubled each time, and the longest, in milliseconds. */
const pause = { first: 2_000, longest: 60_000 };

interface Around {
  underWay: StageUnderWay;
  run: StageContext;
  /** Names the call within its run. */
  operation: string;
}

type Called = Pick<ToolCallInput, 'server' | 'tool' | 'arguments'>;

/**
 * Calls a tool through the board, and waits for its approval and its end.
 *
 * @throws SuspendedError when the execution continues as new first; the next one joins the call
 */
export async function calledTool(call: Called, around: Around): Promise<ToolEnd> {
  const { underWay, run } = around;
  try {
    const end = await untilEnded(call, around);
    await withdraw(underWay, run, end.status === 'timeout');
    return end;
  } catch (error) {
    if (isCancellation(error)) {
      await withdraw(underWay, run, true);
    }
    throw error;
  }
}

async function untilEnded(call: Called, { underWay, run, operation: name }: Around): Promise<ToolEnd> {
  const { runId, progress, continuation, walkers } = run;
  const { stage } = underWay;
  const { untilMs = Infinity } = underWay.tool ?? {};
  const timeOut: ToolEnd = { status: 'timeout', reason: 'It was not completed in time.' };
  await progress.flush();
  const digest = await catalogOf({ underWay, run }, untilMs);
  if (typeof digest !== 'string') {
    return digest ?? timeOut;
  }
  const operation = `${runId}/${name}`;
  let isAdmitted = underWay.tool?.approvalId !== undefined;
  for (let pauseMs = pause.first; ; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    const { approvalId } = underWay.tool ?? {};
    const isFirst: boolean = !isAdmitted && hasChange('tool-call-admission');
    const input: ToolCallInput = {
      ...{ runId, stageId: stage.id, ...call, operation, catalog: digest },
      forMs: Math.max(1, Math.min(isFirst ? firstLookMs : lookMs, untilMs - Date.now())),
      ...(stage.tool && approvalId !== undefined && { approvalId }),
    };
    const ask = () => continuation.duringPrompt(() => callTool(input));
    // An approval that is requested while the run is cancelled is withdrawn.
    const make = isFirst ? () => CancellationScope.nonCancellable(ask) : ask;
    const made = await (stage.tool ? walkers.rest(make) : make());
    isAdmitted = made.state === 'approval' || made.state === 'running';
    if (made.state === 'ended') {
      return made.end;
    }
    if (Date.now() >= untilMs) {
      return timeOut;
    }
    if (made.state === 'waiting') {
      progress.record({ ToolWaiting: { stage_id: stage.id, reason: made.reason } }, `${name}/board`);
      await progress.flush();
      await wait(() => false, run, {
        untilMs: Math.min(Date.now() + pauseMs, untilMs),
        summary: `tool call of ${stage.id}`,
      });
    } else if (made.state === 'approval' && underWay.tool && underWay.tool.approvalId !== made.approvalId) {
      underWay.tool.approvalId = made.approvalId;
      const { approvalId: approval_id, reason } = made;
      progress.noteTool(stage, { approval_id });
      progress.record({ ToolWaiting: { stage_id: stage.id, approval_id, reason } }, `${stage.id}/${approval_id}`);
      await progress.flush();
    }
    if (made.state === 'running' && stage.tool) {
      progress.noteTool(stage, undefined);
      await progress.flush();
    }
  }
}

/** The digest of the run's catalog, which is opened by its first call; `undefined` when the time is over. */
export async function catalogOf(
  { underWay, run }: Pick<Around, 'underWay' | 'run'>,
  untilMs: number,
): Promise<string | ToolEnd | undefined> {
  const { runId, board, graph, continuation } = run;
  for (let pauseMs = pause.first; board.catalog === undefined; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    const opened = await continuation.duringPrompt(() => openToolCatalog({ runId, servers: serversOf(graph) }));
    if ('digest' in opened) {
      board.catalog = opened.digest;
    } else if ('failed' in opened) {
      return { status: 'failed', reason: opened.failed };
    } else if (Date.now() >= untilMs) {
      return undefined;
    } else {
      const { id } = underWay.stage;
      run.progress.record({ ToolWaiting: { stage_id: id, reason: opened.waiting } }, `${id}/catalog`);
      await run.progress.flush();
      const until = Math.min(Date.now() + pauseMs, untilMs);
      await wait(() => false, run, { untilMs: until, summary: `tool catalog for ${id}` });
    }
  }
  return board.catalog;
}

/** No person decides about a call that is waited for no longer. */
async function withdraw(underWay: StageUnderWay, { runId }: StageContext, isOver: boolean): Promise<void> {
  const { approvalId } = underWay.tool ?? {};
  if (isOver && approvalId !== undefined) {
    await CancellationScope.nonCancellable(() => withdrawToolCall({ runId, approvalId }).catch(() => undefined));
  }
}
