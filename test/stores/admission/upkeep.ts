import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { detectPresets } from '../../../providers/agents/local/detect-presets';
import type { Database } from '../../../stores/port/collection';
import { createReservationStore, type ReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { type HeartbeatDependencies, startHeartbeat } from '../../../worker/heartbeat';
import { counting } from './counting';

const leaseMs = 30_000;
const longAgo = () => new Date(Date.now() - 120_000);

/** What workers do for reservations in turns, on any adapter. */
export function upkeepCases(open: () => Promise<Database>): void {
  let database: Database;
  let store: ReservationStore;
  const read = { documents: 0 };
  let compared: string[];
  let attempts = 0;

  beforeEach(async () => {
    database = await open();
    store = await createReservationStore(counting(database, read));
    compared = [];
  });
  afterEach(() => database.close());

  async function reserved(count: number, hostId: string | null, now = new Date()): Promise<string[]> {
    const ids = Array.from({ length: count }, () => `attempt_${String((attempts += 1)).padStart(12, '0')}`);
    for (const id of ids) {
      await store.reserve(sampleRequest(id, { hostId }), [], { now, leaseMs: 600_000 });
    }
    return ids;
  }
  const heartbeatOf = (id: string) => store.get(id).then((record) => record?.heartbeatAt ?? '');

  /** One round of the worker of a host, whose end it awaits. */
  async function beat(hostId: string, now = new Date()): Promise<void> {
    const heartbeat = await startHeartbeat({
      hostId,
      workerId: `worker-of-${hostId}`,
      process: { pid: 1, startTime: '', bootId: '', pidNamespace: '' },
      hosts: await createHostStore(counting(database, read)),
      attempts: {
        get: async (id) => {
          compared.push(id);
          return { state: 'running' };
        },
      },
      admission: {
        now: () => now,
        settings: { current: async () => ({ admission: { leaseMs, heartbeatMs: 10_000 } }) },
        queue: { isEmpty: async () => true },
        reservations: store,
      } as unknown as HeartbeatDependencies['admission'],
      concurrency: 1,
      queues: [],
      findings: async () => [],
      agentPresets: () => detectPresets({ environment: {} }, new Date()),
      log: createLog({ name: 'test', level: 'silent' }),
    });
    await heartbeat.close();
  }

  test('a worker reads what is reserved on its host, however much is reserved elsewhere', async () => {
    const now = new Date();
    const own = await reserved(2, 'here', longAgo());
    await beat('there', now);
    await store.renewHost('here', now, leaseMs);
    read.documents = 0;
    compared = [];
    await beat('here', now);
    const few = read.documents;
    expect(compared.sort()).toEqual(own);

    await reserved(120, 'there');
    read.documents = 0;
    compared = [];
    await beat('here', now);
    expect(read.documents).toBeLessThanOrEqual(few);
    expect(compared.sort()).toEqual(own);
  });

  test('it announces the run slots that the runs of its host hold', async () => {
    await reserved(3, 'here');
    const [over] = await reserved(1, 'here');
    await reserved(5, 'there');
    await reserved(1, null);
    await store.release(over!, { reason: 'completed', evidence: 'test', now: new Date() });
    expect([await store.runsOn('here'), await store.runsOn('nowhere')]).toEqual([3, 0]);
    await beat('here');
    const [host] = await (await createHostStore(database)).everyLive();
    expect(host).toMatchObject({ _id: 'here', reservedRuns: 3 });
  });

  test('what has no host is renewed and compared by the worker that comes first, and by the next when that is gone', async () => {
    const [unhosted] = await reserved(1, null, longAgo());
    const now = new Date();
    await Promise.all([beat('here', now), beat('there', now)]);
    const first = await heartbeatOf(unhosted!);
    expect(first).toBe(now.toISOString());
    expect(compared.filter((id) => id === unhosted).length).toBeGreaterThanOrEqual(1);
    await beat('there', new Date(now.getTime() + 4_000));
    expect(await heartbeatOf(unhosted!)).toBe(first);

    const later = new Date(now.getTime() + 10_000);
    const renewals = await Promise.all(
      ['here', 'there', 'elsewhere'].map(() => store.renewUnhosted(later, leaseMs, new Date(now.getTime() + 5_000))),
    );
    expect(renewals.flat().map(({ _id }) => _id)).toEqual([unhosted]);
    expect(await heartbeatOf(unhosted!)).toBe(later.toISOString());
  });

  test('what no host renews any more is found by every worker, page by page', async () => {
    const silent = await reserved(7, 'gone', longAgo());
    await reserved(3, 'here', longAgo());
    await store.renewHost('here', new Date(), leaseMs);
    const found: string[] = [];
    for await (const { _id } of store.silentSince(new Date(Date.now() - 60_000), 2)) {
      found.push(_id);
    }
    expect(found.sort()).toEqual(silent);
  });

  test('the ledger is repaired by one of all workers at a time, and by the next one in time', async () => {
    const now = new Date();
    await Promise.all(Array.from({ length: 5 }, () => store.repairInTurn(now, 5_000)));
    read.documents = 0;
    await Promise.all(Array.from({ length: 5 }, () => store.repairInTurn(new Date(now.getTime() + 4_000), 5_000)));
    // Whether there is a turn is one document each; the ledger is not read.
    expect(read.documents).toBe(5);
    await reserved(1, 'here');
    read.documents = 0;
    await Promise.all(Array.from({ length: 5 }, () => store.repairInTurn(new Date(now.getTime() + 5_000), 5_000)));
    // One of them has read the ledger and the reservation.
    expect(read.documents).toBe(4 + 2);
    // A clock that was an hour ahead keeps no one from it.
    await store.repairInTurn(new Date(now.getTime() + 3_600_000), 5_000);
    read.documents = 0;
    await store.repairInTurn(now, 5_000);
    // The ledger alone: it names the reservation no more.
    expect(read.documents).toBe(1);
  });
}
