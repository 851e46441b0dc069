import { join } from 'node:path';
import { scopesOf, treeKey } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createCapacityLedger } from '../../../stores/runs/admission/capacity-ledger';
import { openSqlite } from '../../../stores/sqlite/database';

let dir: TempDir;

beforeAll(async () => {
  dir = await makeTempDir('ledger');
});
afterAll(() => dir.remove());

describe('capacity ledger', () => {
  test('releases capacity however many runs hold some, and forgets scopes that none uses', async () => {
    const log = createLog({ name: 'test', level: 'fatal' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    const ledger = await createCapacityLedger(database);
    const generation = { generation: 1, at: new Date().toISOString() };
    const holderOf = async (n: number) => {
      const request = sampleRequest(`attempt_${n}`);
      await ledger.hold(request, [], generation);
      const keys = scopesOf(request).map(({ key }) => key);
      return { id: request.attemptId, holder: { generation: 1, requested: request.requested, keys } };
    };
    // Each has two scopes of its own: its root task and its tree.
    const held = await Promise.all(Array.from({ length: 272 }, (_, n) => holderOf(n)));
    const ended = await Promise.all(Array.from({ length: 170 }, (_, n) => holderOf(272 + n)));
    for (const { id, holder } of ended) {
      expect(await ledger.release(id, holder)).toBe(true);
    }
    const { holders, usage } = await ledger.read();
    expect(Object.keys(holders)).toHaveLength(held.length);
    expect(usage[treeKey('attempt_0')]).toMatchObject({ runs: 1 });
    expect(usage.global).toMatchObject({ runs: held.length });
    // Of the 340 scopes of those that ended no more are left than there may be.
    const unused = Object.values(usage).filter(({ runs }) => runs === 0);
    expect(unused.length).toBeLessThanOrEqual(64 + held.length);
    await database.close();
  });
});
