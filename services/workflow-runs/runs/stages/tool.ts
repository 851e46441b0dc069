import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { GraphNode } from '../../graph/graph';
import { valueText } from '../../graph/values';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { filledArguments } from '../execution/prompt-text';
import { type StageContext, wait, type Worked } from '../execution/stages';
import { nextAttempt, noteFailure } from './attempts';
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

/** The arguments of a call may have this much as JSON once their values are in them, in characters. */
const maxCharacters = 100_000;
/** How long a call is waited for at a time, in milliseconds; its history is as short as that is long. */
const lookMs = 120_000;
/** The pause before the board is asked again that could not be asked, which is doubled each time, and the longest, in milliseconds. */
const pause = { first: 2_000, longest: 60_000 };

/** Calls the tool of a node through the board, waits for its approval and its end, and calls it again where that is safe. */
export async function runTool(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress } = run;
  const { tool, maxRetries } = node;
  const { stage } = underWay;
  if (!tool) {
    throw new Error(`${node.id} calls no tool.`);
  }
  const values = argumentsOf(tool.arguments, stage.id, run);
  try {
    for (;;) {
      const attempt = underWay.tool ? (underWay.attempt ?? 1) : await nextAttempt(node, underWay, run);
      underWay.tool ??= { ...(node.timeoutMs !== undefined && { untilMs: Date.now() + node.timeoutMs }) };
      const { server, tool: name, idempotent } = tool;
      const end = await called({ server, tool: name, arguments: values }, { underWay, run, attempt });
      delete underWay.tool;
      const { status } = end;
      const maySend = status === 'failed' || (idempotent === true && (status === 'error' || status === 'unknown'));
      if (status === 'completed' || attempt > maxRetries || !maySend) {
        progress.lists.delete(stage.id);
        return ended(node, end, { run, retries: attempt - 1 });
      }
      const error = reasonOf(node, end);
      progress.record({ StageRetrying: { stage_id: stage.id, attempt, error } }, `${stage.id}/try/${attempt}`);
      noteFailure(node, underWay, attempt);
    }
  } catch (error) {
    if (!(error instanceof SuspendedError)) {
      progress.lists.delete(stage.id);
    }
    throw error;
  }
}

/** The arguments of a visit: its retries, and the executions that resume it, call with the same. */
function argumentsOf(
  template: Record<string, unknown>,
  stageId: string,
  { goal, values, progress }: StageContext,
): Record<string, unknown> {
  const stored = progress.lists.get(stageId)?.items[0];
  const filled = (stored as Record<string, unknown> | undefined) ?? filledArguments(template, goal, values.all());
  if (JSON.stringify(filled).length > maxCharacters) {
    throw new Error(`The arguments have more than ${maxCharacters} characters once their values are in them.`);
  }
  progress.lists.set(stageId, { items: [filled], outputs: [] });
  return filled;
}

interface Around {
  underWay: StageUnderWay;
  run: StageContext;
  attempt: number;
}

type Called = Pick<ToolCallInput, 'server' | 'tool' | 'arguments'>;

/** @throws SuspendedError when the execution continues as new first; the next one joins the call */
async function called(call: Called, around: Around): Promise<ToolEnd> {
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

async function untilEnded(call: Called, { underWay, run, attempt }: Around): Promise<ToolEnd> {
  const { runId, progress, continuation, walkers } = run;
  const { stage } = underWay;
  const { untilMs = Infinity } = underWay.tool ?? {};
  const timeOut: ToolEnd = { status: 'timeout', reason: 'It was not completed in time.' };
  await progress.flush();
  const digest = await catalogOf({ underWay, run }, untilMs);
  if (typeof digest !== 'string') {
    return digest ?? timeOut;
  }
  const operation = `${runId}/${stage.id}/${attempt}`;
  for (let pauseMs = pause.first; ; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    const { approvalId } = underWay.tool ?? {};
    const input: ToolCallInput = {
      ...{ runId, stageId: stage.id, ...call, operation, catalog: digest },
      forMs: Math.max(1, Math.min(lookMs, untilMs - Date.now())),
      ...(stage.tool && approvalId !== undefined && { approvalId }),
    };
    const make = () => continuation.duringPrompt(() => callTool(input));
    const made = await (stage.tool ? walkers.rest(make) : make());
    if (made.state === 'ended') {
      return made.end;
    }
    if (Date.now() >= untilMs) {
      return timeOut;
    }
    if (made.state === 'waiting') {
      progress.record({ ToolWaiting: { stage_id: stage.id, reason: made.reason } }, `${stage.id}/${attempt}/board`);
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
async function catalogOf(
  { underWay, run }: Pick<Around, 'underWay' | 'run'>,
  untilMs: number,
): Promise<string | ToolEnd | undefined> {
  const { runId, board, graph, continuation } = run;
  for (let pauseMs = pause.first; board.catalog === undefined; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    const servers = [...new Set(Object.values(graph.nodes).flatMap(({ tool }) => (tool ? [tool.server] : [])))];
    const opened = await continuation.duringPrompt(() => openToolCatalog({ runId, servers }));
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

const reasonOf = ({ tool }: GraphNode, { status, reason = '' }: ToolEnd): string =>
  `The call of ${tool?.server ?? ''}/${tool?.tool ?? ''} ended as ${status}: ${reason}`.slice(0, 1_000);

function ended(
  node: GraphNode,
  end: ToolEnd,
  { run: { values }, retries }: { run: StageContext; retries: number },
): Worked {
  const { id } = node;
  const { status, output = null, callId = '' } = end;
  values.set({
    ...{ [`${id}_output`]: output, last_output: output, [`${id}_status`]: status, [`${id}_call`]: callId },
  });
  if (status === 'completed') {
    return { outcome: { outcome: 'success' }, reported: { retries, notes: valueText(output).slice(0, 200) } };
  }
  const reason = reasonOf(node, end);
  return { outcome: { outcome: 'fail', reason }, reported: { retries, failure_reason: reason } };
}
