import fc from 'fast-check';
import { countedScopes, nothing, plus, policiesOf, resources } from '../../../domain/admission/capacity';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Database } from '../../../stores/port/collection';
import { interceptedDatabase } from '../../../stores/port/wrappers/intercepted-database';
import type { ReservationRecord } from '../../../stores/runs/admission/reservation-record';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { defaultFeatures } from '../../../stores/settings/settings-store';
import { earlierReservations } from '../../support/stores/earlier-reservations';

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 3, BOARD_RUN_TIMEOUT_MS: 60_000 });
const limits = { ...admission.limits, rootTask: { runs: 2, processes: null, memoryMb: null } };
const settings = { ...admission, limits };
const leaseMs = 1_000;
const start = Date.parse('2026-01-01T00:00:00.000Z');
const attempts = 6;
const steps = 40;

class Died extends Error {}

/** Whole numbers from 0 that are below a bound, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/** A database whose calls come late, some of them very late, and whose callers die at any of them. */
function unreliable(database: Database, random: (below: number) => number, calm: { now: boolean }): Database {
  const pause = async () => {
    const turns = calm.now ? 0 : [0, 1, 3, 40][random(4)]!;
    for (let turn = 0; turn < turns; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!calm.now && random(25) === 0) {
      throw new Died('ended here');
    }
  };
  return interceptedDatabase(database, async (_operation, work) => {
    await pause();
    const result = await work();
    await pause();
    return result;
  });
}

/** How many processes are of each version. */
interface Versions {
  current: number;
  earlier: number;
}

/** Whatever is late, repeated or interrupted: nothing is counted too low at any moment, and all of it is right after a repair. */
export function interruptedCases(
  open: () => Promise<Database>,
  { numRuns, readsAtOnce }: { numRuns: number; readsAtOnce: boolean },
): void {
  test.each<[string, Versions]>([
    ['of this version', { current: 3, earlier: 0 }],
    ['of this version and the one before it', { current: 2, earlier: 2 }],
  ])(
    'processes %s that die at any step admit no more than there is room for, and lose no capacity',
    async (_of, versions) => {
      const property = fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
        const database = await open();
        try {
          await interrupted(database, seed, { ...versions, readsAtOnce });
        } finally {
          await database.close();
        }
      });
      await fc.assert(property, { numRuns, endOnFailure: true });
    },
    180_000,
  );
}

async function interrupted(
  database: Database,
  seed: number,
  { readsAtOnce, ...versions }: Versions & { readsAtOnce: boolean },
): Promise<void> {
  const random = numbers(seed);
  const calm = { now: true };
  const reliable = await createReservationStore(database);
  const records = await database.collection<ReservationRecord>({ name: 'admission-reservations' });
  const ledgers = await database.collection<{ _id: string; usage: Record<string, unknown> }>({
    name: 'admission-ledger',
  });
  const stores = await Promise.all(
    Array.from({ length: versions.current }, () => createReservationStore(unreliable(database, random, calm))),
  );
  const earlier = await Promise.all(
    Array.from({ length: versions.earlier }, () => earlierReservations(unreliable(database, random, calm))),
  );
  const ids = Array.from({ length: attempts }, (_, n) => `attempt_${n}`);
  const requests = ids.map((id, n) =>
    sampleRequest(id, {
      rootTaskId: `task-${n % 2}`,
      hostId: n % 3 === 0 ? null : 'h',
      requested: { runs: 1, processes: n, memoryMb: 0 },
    }),
  );

  /** In the embedded store nothing is written between the two reads of one turn. */
  const seen = async () => {
    const [ledger, all] = await Promise.all([ledgers.get('ledger'), records.find({ _id: { $in: ids } })]);
    const active = all.filter(({ state }) => state === 'active');
    return { usage: ledger!.usage as Awaited<ReturnType<typeof reliable.usage>>, active };
  };
  async function assertNotTooLow(): Promise<void> {
    const { usage, active } = await seen();
    const held = active.reduce((sum, { requested }) => plus(sum, requested), nothing);
    for (const resource of resources) {
      expect(usage.global?.[resource] ?? 0).toBeGreaterThanOrEqual(held[resource]);
    }
    expect(active.length).toBeLessThanOrEqual(3);
  }

  const now = () => new Date(start + random(3_000));
  async function act(): Promise<void> {
    const n = random(attempts);
    const [request, id] = [requests[n]!, ids[n]!];
    // Some have not read the settings since there is a ceiling for root tasks.
    const policies = policiesOf(random(8) === 0 ? admission : settings, request);
    const which = random(stores.length + earlier.length);
    const store = stores[which];
    const what = random(20);
    if (!store) {
      const old = earlier[which - stores.length]!;
      await (what < 12
        ? old.reserve(request, policiesOf(settings, request), { now: now(), leaseMs })
        : what < 16
          ? old.releaseForRequeue(id, now())
          : old.release(id, now()));
    } else if (what < 9) {
      await store.reserve(request, policies, { now: now(), leaseMs });
    } else if (what < 14) {
      await store.releaseForRequeue(id, now());
    } else if (what < 15) {
      await store.release(id, { reason: 'completed', evidence: 'done', now: now() });
    } else if (what < 17) {
      await store.expire(new Date(start + 2_000 + random(2_000)));
    } else {
      // A minute later all that is not written yet is taken for abandoned.
      await store.repair(new Date(start + random(2) * 120_000));
    }
  }

  calm.now = false;
  const failures: unknown[] = [];
  let left = steps;
  const workers = Array.from({ length: 5 }, async () => {
    while (left > 0) {
      left -= 1;
      await act().catch((error: unknown) => {
        if (!(error instanceof Died)) {
          failures.push(error);
        }
      });
      if (readsAtOnce) {
        await assertNotTooLow().catch((error: unknown) => failures.push(error));
      }
    }
  });
  await Promise.all(workers);
  expect(failures).toEqual([]);

  calm.now = true;
  await assertNotTooLow();
  await reliable.repair(new Date(start + 300_000));
  expect(await reliable.repair(new Date(start + 300_000))).toBe(0);
  const { usage, active } = await seen();
  const expected = (key: string) =>
    active
      .filter((record) => (record.counted?.keys ?? record.keys).includes(key))
      .reduce((sum, { requested }) => plus(sum, requested), nothing);
  for (const key of new Set([
    ...Object.keys(usage),
    ...requests.flatMap((each) => countedScopes(each, []).map((scope) => scope.key)),
  ])) {
    expect({ key, ...(usage[key] ?? nothing) }).toEqual({ key, ...expected(key) });
  }
  expect((await reliable.holders()).sort()).toEqual(active.map(({ _id }) => _id).sort());

  for (const id of ids) {
    await reliable.release(id, { reason: 'completed', evidence: 'done', now: new Date(start) });
  }
  expect(Object.values(await reliable.usage()).filter((each) => each && each.runs + each.processes !== 0)).toEqual([]);
}
