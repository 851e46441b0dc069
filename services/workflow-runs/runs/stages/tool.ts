import { cut } from '../../../../platform/text/cut';
import type { GraphNode } from '../../graph/graph';
import { valueText } from '../../graph/values';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { filledArguments } from '../execution/prompt-text';
import type { StageContext, Worked } from '../execution/stages';
import { nextAttempt, noteFailure } from './attempts';
import { calledTool } from './tool-call';
import type { ToolEnd } from './tool-messages';

/** The arguments of a call may have this much as JSON once their values are in them, in characters. */
const maxCharacters = 100_000;
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
      const operation = `${stage.id}/${attempt}`;
      const end = await calledTool({ server, tool: name, arguments: values }, { underWay, run, operation });
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

const reasonOf = ({ tool }: GraphNode, { status, reason = '' }: ToolEnd): string =>
  cut(`The call of ${tool?.server ?? ''}/${tool?.tool ?? ''} ended as ${status}: ${reason}`, 1_000);

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
    return { outcome: { outcome: 'success' }, reported: { retries, notes: cut(valueText(output), 200) } };
  }
  const reason = reasonOf(node, end);
  return { outcome: { outcome: 'fail', reason }, reported: { retries, failure_reason: reason } };
}
