import { issueSyncActor } from '../../domain/issue-sync/scope';
import { newRecordId } from '../../platform/operations/operation';
import type {
  PullRequestOperation,
  PullRequestRecord,
  PullRequestStore,
} from '../../stores/integrations/pull-request-store';
import type { OperationRef } from '../pull-request/record';

/** A pull request is not polled more often than this, in milliseconds; a longer interval of the synchronisation counts. */
const pollMs = 300_000;
/** The most refreshes of a repository in that time: each takes five requests or more of those that a forge allows. */
const maxPolls = 50;
/** The least time between two refreshes of one, in milliseconds: checks announce themselves in bursts. */
const announcedMs = 5_000;

/** How long the operation of another caller is waited for, in milliseconds: one that takes longer has lost its workflow. */
const operationMs = 900_000;

/** The refreshes that are due, and whether announced ones have to wait a moment. */
export interface DueRefreshes {
  due: OperationRef[];
  isMore: boolean;
}

interface DueDependencies {
  pullRequests: Pick<PullRequestStore, 'open' | 'stale' | 'countPolled' | 'request'>;
  now: () => Date;
}

/** Requests a refresh of each open pull request that is due: those that the forge has announced come first. */
export async function requestDueRefreshes(
  { pullRequests, now }: DueDependencies,
  { repo, pollIntervalMs }: { repo: string; pollIntervalMs: number },
): Promise<DueRefreshes> {
  const ago = (ms: number): string => new Date(now().getTime() - ms).toISOString();
  const isDue = (since: string) => (record: PullRequestRecord) => (record.polledAt ?? '') <= since;
  const remaining = Math.max(0, maxPolls - (await pullRequests.countPolled(repo, ago(pollMs))));
  const announced = await pullRequests.stale(repo, maxPolls);
  const polled = await pullRequests.open(repo, maxPolls);
  const records = new Map(
    [...announced.filter(isDue(ago(announcedMs))), ...polled.filter(isDue(ago(Math.max(pollMs, pollIntervalMs))))].map(
      (record) => [record._id, record],
    ),
  );
  const due: OperationRef[] = [];
  // The operation of another caller is not replaced: it would be refused. What it does not read is read after it.
  const isLost = ({ begun, at }: PullRequestOperation): boolean => !begun && at <= ago(operationMs);
  for (const taskId of [...records.keys()].slice(0, remaining)) {
    const operation = await pullRequests.request(
      taskId,
      {
        id: newRecordId('pr', 16),
        kind: 'refresh',
        actor: issueSyncActor,
        at: now().toISOString(),
        begun: false,
      },
      isLost,
    );
    if (operation.kind === 'refresh' && operation.actor === issueSyncActor) {
      due.push({ taskId, operationId: operation.id });
    }
  }
  const taken = new Set(due.map(({ taskId }) => taskId));
  const waits = ({ _id, operation }: PullRequestRecord): boolean =>
    !taken.has(_id) && (operation === null || operation.at > ago(operationMs));
  // Where the forge was asked often enough, the next poll comes first.
  return { due, isMore: remaining > due.length && announced.some(waits) };
}
