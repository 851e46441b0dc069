import { join } from 'node:path';
import { newApproval } from '../../domain/approvals/record';
import { createSealedBoxKey, seal } from '../../platform/crypto/sealed-box';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createApprovalStore } from '../../stores/runs/approval-store';
import { openSqlite } from '../../stores/sqlite/database';
import { anApprovalRequest } from '../support/factories/approval';

describe('approval store', () => {
  test('data of an answer are handed to exactly one of those who take them at once', async () => {
    const dir = await makeTempDir('approval-store');
    const log = createLog({ name: 'test', level: 'silent' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    try {
      const store = await createApprovalStore(database);
      const run = { taskId: 'task_20260101_test01', attemptId: 'attempt_test000001' };
      const { publicKey } = createSealedBoxKey();
      const { id } = await store.open(newApproval(anApprovalRequest(run), new Date()), publicKey);
      const sealedResponse = seal(publicKey, '{}', 'context');
      await store.close(id, { decision: 'approved', actor: 'test', sealedResponse }, new Date().toISOString());
      const taken = await Promise.all(Array.from({ length: 5 }, () => store.takeResponse(id)));
      expect(taken.filter((box) => box !== undefined)).toEqual([sealedResponse]);
      expect(await store.takeResponse(id)).toBeUndefined();
    } finally {
      await database.close();
      await dir.remove();
    }
  });
});
