import { join } from 'node:path';
import type { AdmissionControl } from '../../activities/agent-run/admission/dependencies';
import { sampleRequest } from '../../domain/admission/sample-request';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { detectPresets } from '../../providers/agents/local/detect-presets';
import { createReservationStore } from '../../stores/runs/admission/reservation-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { createHostStore } from '../../stores/runs/hosts/host-store';
import { openSqlite } from '../../stores/sqlite/database';
import { type HeartbeatDependencies, reconcileReservations, startHeartbeat } from '../../worker/heartbeat';
import { leaseWitness } from '../../worker/lease-witness';

describe('worker heartbeat', () => {
  test('leases that are set shorter are renewed in time by a host that rests for longer', async () => {
    const admission = { leaseMs: 30_000, heartbeatMs: 10_000 };
    const renewed: (string | null)[] = [];
    const nothing = () => Promise.resolve([]);
    const heartbeat = await startHeartbeat({
      hostId: 'here',
      workerId: 'worker',
      process: { pid: 1, startTime: '', bootId: '', pidNamespace: '' },
      hosts: { announceWorker: nothing, withdrawWorker: nothing } as unknown as HeartbeatDependencies['hosts'],
      attempts: { get: () => Promise.resolve(undefined) },
      // What one round calls of it, and nothing else.
      admission: {
        now: () => new Date(),
        settings: { current: () => Promise.resolve({ admission }) },
        queue: { isEmpty: () => Promise.resolve(true) },
        reservations: {
          runsOn: () => Promise.resolve(0),
          renewHost: (hostId: string | null) => Promise.resolve(void renewed.push(hostId)),
          renewUnhosted: () => (renewed.push(null), nothing()),
          expire: nothing,
          repairInTurn: () => Promise.resolve(0),
          activeOn: nothing,
          silentSince: () => [],
        },
      } as unknown as AdmissionControl,
      concurrency: 1,
      queues: [],
      findings: async () => [],
      agentPresets: () => detectPresets({ environment: {} }, new Date()),
      log: createLog({ name: 'test', level: 'silent' }),
    });
    try {
      await eventually(() => expect(renewed).toEqual(['here', null]));
      Object.assign(admission, { leaseMs: 3_000, heartbeatMs: 500 });
      await eventually(() => expect(renewed.length).toBeGreaterThanOrEqual(6), { withinMs: 15_000 });
    } finally {
      await heartbeat.close();
    }
  });

  test('the first host back after an outage frees a host that is gone only after a whole lease, and never one that is late', async () => {
    const dir = await makeTempDir('upkeep-outage');
    const log = createLog({ name: 'test', level: 'silent' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    const leaseMs = 3_000;
    const [late, gone] = ['attempt_late0001', 'attempt_gone0001'];
    const reservations = await createReservationStore(database);
    const beforeTheOutage = new Date(Date.now() - 3_600_000);
    const on = (hostId: string, id: string) => ({ ...sampleRequest(id), hostId });
    await reservations.reserve(on('late', late), [], { now: beforeTheOutage, leaseMs });
    await reservations.reserve(on('gone', gone), [], { now: beforeTheOutage, leaseMs });
    const stateOf = async (id: string) => (await reservations.get(id))?.state;
    const startedAt = Date.now();
    const heartbeat = await startHeartbeat({
      hostId: 'first-back',
      workerId: 'worker',
      process: { pid: 1, startTime: '', bootId: '', pidNamespace: '' },
      hosts: await createHostStore(database),
      attempts: { get: (id) => Promise.resolve({ _id: id, state: 'running' } as AttemptRecord) },
      admission: {
        now: () => new Date(),
        settings: { current: () => Promise.resolve({ admission: { leaseMs, heartbeatMs: 200 } }) },
        queue: { isEmpty: () => Promise.resolve(true) },
        reservations,
      } as unknown as AdmissionControl,
      concurrency: 1,
      queues: [],
      findings: async () => [],
      agentPresets: () => detectPresets({ environment: {} }, new Date()),
      log,
    });
    try {
      await eventually(async () => {
        // The late host is back halfway, as its own upkeep would have it.
        if (Date.now() - startedAt > leaseMs / 2) {
          await reservations.renewHost('late', new Date(), leaseMs);
        }
        expect(await stateOf(gone)).toBe('expired');
      });
      expect(Date.now() - startedAt).toBeGreaterThanOrEqual(leaseMs);
      expect(await stateOf(late)).toBe('active');
    } finally {
      await heartbeat.close();
      await database.close();
      await dir.remove();
    }
  });

  test.each([
    ['a start', [0], false],
    ['less than a lease', [0, 10, 20], false],
    ['a whole lease', [0, 10, 20, 30], true],
    ['a whole lease with a gap in which others may have been away', [0, 10, 20, 35, 45], false],
    ['a lease after such a gap', [0, 35, 45, 55, 65], true],
    ['a clock that was set back', [100, 110, 0, 10, 20], false],
  ])('after %s a host that is silent %j s counts as gone: %s', (_what, rounds, expected) => {
    const witness = leaseWitness();
    const saw = rounds.map((at) => witness.sawLeaseThrough(new Date(at * 1_000), 30_000));
    expect(saw.at(-1)).toBe(expected);
  });

  test('what ended attempts hold is given back, however many of them there are', async () => {
    const dir = await makeTempDir('upkeep');
    const log = createLog({ name: 'test', level: 'silent' });
    const database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
    try {
      const reservations = await createReservationStore(database);
      const longAgo = new Date('2026-01-01T00:00:00.000Z');
      const ids = Array.from({ length: 5 }, (_, index) => `attempt_ended00${index}`);
      for (const id of ids) {
        await reservations.reserve(sampleRequest(id), [], { now: longAgo, leaseMs: 1_000_000 });
      }
      const ended = {
        hostId: 'here',
        attempts: { get: () => Promise.resolve(undefined) },
        admission: { reservations },
      };
      expect(await reconcileReservations(ended, new Date(), { pageSize: 2 })).toBe(5);
      expect(await reservations.holders()).toEqual([]);
      expect(await reconcileReservations(ended, new Date(), { pageSize: 2 })).toBe(0);
    } finally {
      await database.close();
      await dir.remove();
    }
  });
});
