import type { z } from 'zod';
import type { ControlRequest, queueInspection, queueList, QueueQuery } from '../../../contracts/runs/admission';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import { textDigest } from '../../../platform/json/digest';
import { offsetOfPage, Page } from '../../../platform/lists/page';
import type { QueueRecord } from '../../../stores/runs/admission/queue-store';
import { idempotencyKeyReused } from '../idempotency-key';
import type { AdmissionContext } from './context';
import { presentEntry } from './present';

/** How much of the queue one response covers. */
const snapshotLimit = 1_000;

/** One page of the queue, out of a snapshot that ends at 1,000 entries; the next page may begin another one. */
export async function listQueue(
  context: AdmissionContext,
  query: QueueQuery,
): Promise<{ list: z.output<typeof queueList>; page: Page<QueueRecord> }> {
  const now = context.now();
  const { admission } = (await context.settings.read()).features;
  const before = (ageMs: number) => new Date(now.getTime() - ageMs).toISOString();
  const snapshot = await context.queue.list(
    {
      workspaceId: query.workspaceId,
      rootObjectiveId: query.rootObjectiveId,
      nodeId: query.nodeId,
      sources: query.source,
      states: query.state,
      priority: query.priority,
      enqueuedBefore: query.minAgeMs === undefined ? undefined : before(query.minAgeMs),
      enqueuedAfter: query.maxAgeMs === undefined ? undefined : before(query.maxAgeMs),
    },
    { limit: snapshotLimit, cursor: query.cursor },
  );
  const { limitingScope } = query;
  const matching = snapshot.items.filter(
    ({ limitingPolicies }) => !limitingScope || limitingPolicies.some(({ scope }) => limitingScope.includes(scope)),
  );
  const from = offsetOfPage(query.page, query.limit);
  const shown = matching.slice(from, from + query.limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && from + query.limit < matching.length;
  const next = hasMore ? { key: last.enqueuedAt, id: last._id } : snapshot.next;
  const { globalLimit, perWorkspaceLimit } = admission.queue;
  const list = {
    schemaVersion: 'admission-queue-list/v1' as const,
    generatedAt: now.toISOString(),
    conditional: true as const,
    depth: {
      global: { current: await context.queue.depth(), limit: globalLimit },
      workspaces: (await context.queue.depths()).map((each) => ({ ...each, limit: perWorkspaceLimit })),
    },
    pagination: {
      page: query.page,
      limit: query.limit,
      total: matching.length,
      hasMore,
      snapshotTruncated: snapshot.next !== undefined,
    },
    entries: shown.map((entry) => presentEntry(entry, admission, now)),
  };
  return { list, page: new Page(shown, next) };
}

/** One entry, also after its end. @throws AppError 404 */
export async function inspectEntry(context: AdmissionContext, id: string): Promise<z.output<typeof queueInspection>> {
  const entry = await context.queue.get(id);
  assertFound(entry, 'queue entry', id);
  const now = context.now();
  const { admission } = (await context.settings.read()).features;
  return {
    schemaVersion: 'admission-queue-inspection/v1',
    generatedAt: now.toISOString(),
    conditional: true,
    entry: presentEntry(entry, admission, now),
  };
}

/**
 * Ends an entry that was not dispatched, and the run that waits in it. Recorded first: should this process die, the scheduler
 * completes it. The same key again returns the same.
 *
 * @throws AppError 404; 409 `QUEUE_NOT_CANCELLABLE` when it was dispatched or has ended otherwise, `IDEMPOTENCY_KEY_REUSED` for
 *   the same key with another reason
 */
export async function cancelEntry(
  context: AdmissionContext,
  id: string,
  { idempotencyKey, reason, actor }: ControlRequest & { actor: string },
): Promise<z.output<typeof queueInspection>> {
  const keyHash = textDigest(idempotencyKey);
  const at = context.now().toISOString();
  if (!(await context.queue.cancel(id, { keyHash, reason, actor, at }))) {
    const entry = await context.queue.get(id);
    assertFound(entry, 'queue entry', id);
    if (entry.cancel?.keyHash !== keyHash) {
      const code = 'QUEUE_NOT_CANCELLABLE';
      const details = { code, id, state: entry.state, outcome: entry.outcome ?? null };
      throw conflict('Only a queued launch can be cancelled.', details, code);
    }
    const { keyHash: _hash, ...cancel } = entry.cancel;
    if (cancel.reason !== reason) {
      throw idempotencyKeyReused('cancellation', { id, cancel });
    }
  }
  await context.admissionLauncher.stopRun(id, actor);
  return inspectEntry(context, id);
}
