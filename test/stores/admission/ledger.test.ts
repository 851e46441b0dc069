import { join } from 'node:path';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { openSqlite } from '../../../stores/sqlite/database';

let dir: TempDir;

beforeAll(async () => {
  dir = await makeTempDir('ledger');
});
afterAll(() => dir.remove());

describe('capacity ledger', () => {
  test('has the size of what is used, however many runs hold some, and forgets scopes that none uses', async () => {
    const log = createLog({ name: 'test', level: 'fatal' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    const ledgers = await database.collection({ name: 'admission-ledger' });
    const store = await createReservationStore(database);
    const size = async () => JSON.stringify(await ledgers.get('ledger')).length;
    // Each has a host of its own, and as many share these.
    const ids = Array.from({ length: 300 }, (_, n) => `attempt_${n}`);
    const largest = { hosts: 0, runs: 0 };
    for (const [n, id] of ids.entries()) {
      const request = sampleRequest(id, { hostId: `h-${n % 150}` });
      await store.reserve(request, [], { now: new Date(), leaseMs: 60_000 });
      const phase = n < 150 ? 'hosts' : 'runs';
      largest[phase] = Math.max(largest[phase], await size());
    }
    expect(largest.runs).toBeLessThan(largest.hosts * 1.1);
    for (const id of ids.slice(0, 280)) {
      await store.release(id, { reason: 'completed', evidence: 'done', now: new Date() });
    }
    const usage = Object.values(await store.usage());
    expect((await store.usage()).global).toMatchObject({ runs: 20 });
    expect(usage.filter((scope) => scope?.runs === 0).length).toBeLessThanOrEqual(64);
    await database.close();
  });
});
