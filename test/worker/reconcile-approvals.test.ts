import { join } from 'node:path';
import { newApproval } from '../../domain/approvals/record';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { type ApprovalStore, createApprovalStore } from '../../stores/runs/approval-store';
import { openSqlite } from '../../stores/sqlite/database';
import { reconcileApprovals } from '../../worker/reconcile-approvals';
import { anApprovalRequest } from '../support/factories/approval';

let dir: TempDir;
let database: Database;
let store: ApprovalStore;

describe('approval reconciliation', () => {
  beforeEach(async () => {
    dir = await makeTempDir('reconcile-approvals');
    const log = createLog({ name: 'test', level: 'silent' });
    database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    store = await createApprovalStore(database);
  });
  afterEach(async () => {
    await database.close();
    await dir.remove();
  });

  const run = { taskId: 'task_20260101_test01', attemptId: 'attempt_test000001' };

  /** Opens so many requests that were made then, all at once; returns their ids in order. */
  async function opened(count: number, at: Date, name: string): Promise<string[]> {
    const requests = Array.from({ length: count }, (_, index) =>
      anApprovalRequest(run, { providerRequestId: `${name}-${index}`, lifetimeMs: 60_000 }),
    );
    const approvals = await Promise.all(requests.map((request) => store.open(newApproval(request, at))));
    return approvals.map(({ id }) => id).sort();
  }

  /** The requests that are seen to, in order. */
  async function seenTo(overdueOnly: boolean): Promise<string[]> {
    const ids: string[] = [];
    const service = { supervise: ({ id }: { id: string }) => Promise.resolve(void ids.push(id)) };
    await reconcileApprovals({ store, service }, { overdueOnly, pageSize: 2 });
    return ids.sort();
  }

  test('every pending request is seen to once, however many end at the same moment', async () => {
    const overdue = await opened(5, new Date('2026-01-01T00:00:00.000Z'), 'overdue');
    const [decided, ...open] = await opened(4, new Date(), 'open');
    const outcome = { decision: 'cancelled', actor: 'test' } as const;
    await store.close(decided!, outcome, new Date().toISOString());
    expect(await seenTo(false)).toEqual([...overdue, ...open].sort());
    expect(await seenTo(true)).toEqual(overdue);
  });

  test('one that cannot be reconciled prevents no other, and is reported', async () => {
    const overdue = await opened(5, new Date('2026-01-01T00:00:00.000Z'), 'overdue');
    const ids: string[] = [];
    const service = {
      supervise: ({ id }: { id: string }) =>
        id === overdue[1] ? Promise.reject(new Error('It cannot.')) : Promise.resolve(void ids.push(id)),
    };
    const round = reconcileApprovals({ store, service }, { overdueOnly: true, pageSize: 2 });
    await expect(round).rejects.toThrow('1 approvals could not be reconciled.');
    expect(ids.sort()).toEqual(overdue.filter((id) => id !== overdue[1]));
  });
});
