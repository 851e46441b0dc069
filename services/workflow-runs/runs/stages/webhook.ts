import { cut } from '../../../../platform/text/cut';
import type { GraphNode } from '../../graph/graph';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { type StageContext, wait, type Worked } from '../execution/stages';

/** Waits for a call of the webhook of a stage; the body of the first one is its output. */
export async function awaitWebhook(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress, deliveries } = run;
  const { id } = underWay.stage;
  if (node.timeoutMs !== undefined) {
    underWay.untilMs ??= Date.now() + node.timeoutMs;
  }
  const { untilMs } = underWay;
  if (!progress.isAsked(id)) {
    const webhook = { stage_id: id, ...(untilMs !== undefined && { expires_at: new Date(untilMs).toISOString() }) };
    progress.awaitWebhook(webhook);
    progress.record({ WebhookWaiting: webhook }, id);
  }
  await progress.flush();
  try {
    await wait(() => deliveries.has(id), run, { untilMs, summary: `webhook of ${id}` });
  } catch (error) {
    if (!(error instanceof SuspendedError)) {
      progress.withdraw(id);
    }
    throw error;
  }
  progress.withdraw(id);
  const delivery = deliveries.get(id);
  deliveries.delete(id);
  if (!delivery) {
    progress.record({ WebhookTimedOut: { stage_id: id } }, id);
    const reason = 'Its webhook was not called in time.';
    return { outcome: { outcome: 'fail', reason }, reported: { failure_reason: reason } };
  }
  const { body, isJson } = delivery;
  const output: unknown = isJson ? JSON.parse(body) : body;
  progress.record({ WebhookReceived: { stage_id: id, characters: body.length } }, id);
  progress.setValues({ [`${node.id}_output`]: output, last_output: output });
  return { outcome: { outcome: 'success' }, reported: { notes: cut(body, 200) } };
}
