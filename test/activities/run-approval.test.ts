import { join } from 'node:path';
import { closeApproval, createApprovalActivities } from '../../activities/run-approval/activities';
import { newApproval } from '../../domain/approvals/record';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createApprovalStore } from '../../stores/runs/approval-store';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import { createRunEventStore } from '../../stores/runs/event-store';
import { openSqlite } from '../../stores/sqlite/database';
import { createFeedStore } from '../../stores/system/feed-store';
import { anApprovalRequest } from '../support/factories/approval';

describe('activities of run approvals', () => {
  const run = { taskId: 'task_20260101_test01', attemptId: 'attempt_test000001' };
  let dir: TempDir;
  beforeEach(async () => {
    dir = await makeTempDir('approval-activities');
  });
  afterEach(() => dir.remove());

  test('log a request that the end of its run resolves before its workflow announced it', async () => {
    const log = createLog({ name: 'test', level: 'silent' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    try {
      const [approvals, feed] = [await createApprovalStore(database), await createFeedStore(database)];
      const events = await createRunEventStore(database, feed);
      const attempt = { _id: run.attemptId, taskId: run.taskId, provider: 'remote-callback', agent: 'bee' };
      const attempts = {
        get: () => Promise.resolve({ ...attempt, agentConfig: {} }),
      } as unknown as Pick<AttemptStore, 'get'>;
      const deps = { approvals, attempts, events, feed, now: () => new Date() };
      const { id } = await approvals.open(newApproval(anApprovalRequest(run), new Date()));
      await closeApproval(deps, id, { decision: 'cancelled', actor: 'system:run-end' });

      const unused = {
        proofs: { require: () => Promise.reject(new Error('unused')) },
        audit: { record: () => Promise.reject(new Error('unused')) },
      };
      const activities = createApprovalActivities({ ...deps, ...unused });
      expect(await activities.announceApproval({ approvalId: id })).toEqual({ status: 'cancelled' });
      expect((await events.read(run.attemptId, 0, 10)).map(({ kind, sequence }) => [sequence, kind])).toEqual([
        [1, 'approval.requested'],
        [2, 'approval.resolved'],
      ]);
    } finally {
      await database.close();
    }
  });
});
