import { createSchedulerActivities } from '../../../activities/admission-scheduler/activities';
import { decideCapacity } from '../../../activities/agent-run/admission/decide';
import type { AdmissionControl } from '../../../activities/agent-run/admission/dependencies';
import { globalScope, hostKey } from '../../../domain/admission/capacity';
import { laneOf } from '../../../domain/admission/lane';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { createTraceStore } from '../../../stores/governance/trace-store';
import type { Database } from '../../../stores/port/collection';
import { createAdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import { createQueueStore, type QueueRecord } from '../../../stores/runs/admission/queue-store';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../../stores/runs/admission/tree-store';
import { createSettingsStore } from '../../../stores/settings/settings-store';
import { createTelemetryStore } from '../../../stores/system/telemetry-store';
import { counting } from './counting';

const log = createLog({ name: 'test', level: 'fatal' });
/** How far the clock is ahead of ours, in milliseconds. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);
const none = { runs: null, processes: null, memoryMb: null };

/** What the scheduler does with queues of any depth, on any adapter. */
export function schedulerCases(open: () => Promise<Database>): void {
  let database: Database;
  let control: AdmissionControl;
  let away: string[];
  /** The hosts that are live, and how many runs each of them executes at a time. */
  let live: string[];
  let runs: number | undefined;
  const capacityOf = (id: string) => ({ takesWork: !away.includes(id), runs });
  let reported: string[];
  let broken: string | undefined;
  const read = { documents: 0 };
  let attempts = 0;

  beforeEach(async () => {
    aheadMs = 0;
    broken = undefined;
    database = await open();
    control = {
      requests: await createAdmissionRequestStore(database),
      reservations: await createReservationStore(database),
      queue: await createQueueStore(counting(database, read)),
      trees: await createTreeStore(database),
      settings: await createSettingsStore(database, { BOARD_MAX_RUNS: 2, BOARD_RUN_TIMEOUT_MS: 60_000 }),
      telemetry: await createTelemetryStore(database),
      traces: await createTraceStore(database),
      hosts: {
        capacityOf: async (id) => capacityOf(id),
        capacities: async () => new Map(live.map((id) => [id, capacityOf(id)])),
      },
      log,
      now,
      wakeScheduler: async () => undefined,
    };
    await control.settings.patch({ admission: { queue: { globalLimit: 10_000, perWorkspaceLimit: 10_000 } } });
    [away, live, runs] = [['away'], ['away', 'here'], undefined];
    reported = [];
  });
  afterEach(() => database.close());

  function aRequest(fields: Partial<AdmissionRequest> = {}): AdmissionRequest {
    attempts += 1;
    return sampleRequest(`attempt_${String(attempts).padStart(12, '0')}`, fields);
  }
  async function enqueue(...requests: AdmissionRequest[]): Promise<string[]> {
    const enqueuedAt = now().toISOString();
    await Promise.all(
      requests.map(async (request) => {
        await control.requests.put(request);
        await control.queue.enqueue({ ...request, enqueuedAt, limitingKey: globalScope.key, limitingPolicies: [] });
      }),
    );
    return requests.map(({ attemptId }) => attemptId);
  }
  const several = (count: number, fields: Partial<AdmissionRequest> = {}) =>
    Array.from({ length: count }, () => aRequest(fields));
  const look = () =>
    createSchedulerActivities({
      ...control,
      inWorkspace: async (workspaceId) => {
        if (workspaceId === broken) {
          throw new Error('cannot be opened');
        }
        return {
          ...control,
          attempts: { get: async () => undefined },
          signalCapacity: async (id) => reported.push(id) > 0,
          requestStop: async () => true,
        };
      },
      log,
      now,
    }).dispatchQueued();
  const admit = async (fields: Partial<AdmissionRequest>) =>
    (await decideCapacity(control, await control.requests.put(aRequest(fields)))).decision;
  const limitsOf = async (id: string) => (await control.queue.get(id))?.limitingPolicies.map(({ policy }) => policy);
  const release = (id: string) =>
    control.reservations.release(id, { reason: 'completed', evidence: 'test', now: now() });

  test('many entries for which nothing can be done do not hide the one behind them that fits', async () => {
    const stuck = await enqueue(...several(200, { hostId: 'away', priority: 3 }));
    const [fits] = await enqueue(aRequest({ hostId: 'here' }));
    await look();
    expect(reported).toEqual([fits]);

    // They wait for their host and for nothing else: a launch elsewhere need not queue behind them, one there has to.
    for (const id of [stuck[0]!, stuck.at(-1)!]) {
      expect(await control.queue.get(id)).toMatchObject({
        state: 'queued',
        limitingKey: hostKey('away'),
        limitingPolicies: [{ policy: 'host.runs', scope: 'host', limit: 0 }],
      });
    }
    expect(await admit({ hostId: 'here' })).toBe('held');
    expect(await admit({ hostId: 'away' })).toBe('queued');
  });

  test('when the host is back, its entries wait for what the board lacks', async () => {
    const waiting = await enqueue(...several(20, { hostId: 'away' }));
    await look();
    away = [];
    await look();
    expect(reported).toEqual(waiting.slice(0, 2));
    for (const id of waiting.slice(2)) {
      expect(await limitsOf(id)).toEqual(['global.runs']);
    }
  });

  test('a scheduling round reads as much of a short queue as of a long one', async () => {
    const looks: number[] = [];
    for (const more of [20, 150]) {
      for (const workspaceId of ['a', 'b']) {
        await enqueue(...several(more, { workspaceId }));
      }
      for (const id of await control.reservations.holders()) {
        await release(id);
      }
      read.documents = 0;
      await look();
      looks.push(read.documents);
    }
    expect(reported).toHaveLength(4);
    expect(looks[0]).toBeLessThan(40);
    expect(looks[1]).toBeLessThanOrEqual(looks[0]!);
  });

  describe('of a fleet', () => {
    /** So many hosts, with launches of several workspaces that wait for each. */
    async function fleet(hosts: number, fields: Partial<AdmissionRequest> = {}): Promise<void> {
      live = Array.from({ length: hosts }, (_, n) => `host-${String(n).padStart(3, '0')}`);
      for (const hostId of live) {
        await enqueue(...['a', 'b', 'c'].map((workspaceId) => aRequest({ hostId, workspaceId, ...fields })));
      }
    }
    const fill = async (hostIds: string[], workspaceId = 'other') => {
      for (const hostId of hostIds) {
        const request = await control.requests.put(aRequest({ hostId, workspaceId }));
        await control.reservations.reserve(request, [], { now: now(), leaseMs: 60_000 });
      }
    };
    const looked = async () => {
      read.documents = 0;
      await look();
      return read.documents;
    };

    test('a scheduling round reads as much for many hosts as for few', async () => {
      await fleet(4);
      const few = await looked();
      expect(reported).toHaveLength(2);
      for (const id of await control.reservations.holders()) {
        await release(id);
      }
      await fleet(60);
      expect(await looked()).toBeLessThanOrEqual(few + 40);
      expect(reported).toHaveLength(4);
    });

    test('a scheduling round reads the lanes of hosts with capacity, and chooses as if it had read all', async () => {
      runs = 1;
      await control.settings.patch({ admission: { limits: { global: none } } });
      await fleet(60);
      await fill(live.slice(0, -1));
      const [urgent] = await enqueue(aRequest({ hostId: live.at(-1)!, workspaceId: 'c', priority: 2 }));
      await enqueue(...several(200, { hostId: live[0]!, workspaceId: 'a' }));
      expect(await looked()).toBeLessThan(300);
      expect(reported).toEqual([urgent]);
    });

    test('launches for full hosts wait for these, and keep none that go elsewhere waiting', async () => {
      runs = 1;
      await fleet(12);
      await control.settings.patch({ admission: { limits: { global: none } } });
      await fill(live);
      await enqueue(...several(200, { hostId: live[0]! }));
      live.push('new');
      expect(await admit({ hostId: 'new' })).toBe('queued');
      await look();
      aheadMs += 1_000;
      await look();
      const entries = await control.queue.list({}, { limit: 500 });
      const limits = entries.items.filter(({ state }) => state === 'queued');
      expect(new Set(limits.map(({ limitingKey, hostId }) => limitingKey === hostKey(hostId!)))).toEqual(
        new Set([true]),
      );
      live.push('newer');
      expect(await admit({ hostId: 'newer' })).toBe('held');
    });

    test.each([
      ['', 'full', 'b'],
      [', behind many for hosts that take no work', 'away', 'a'],
    ])('an overdue launch for a full host has its workspace kept for it%s', async (_where, hostId, workspaceId) => {
      runs = 1;
      await control.settings.patch({ admission: { limits: { global: none, workspace: { ...none, runs: 2 } } } });
      live = ['full', 'free'];
      await fill(['full']);
      await fill(['free'], 'a');
      await enqueue(...several(150, { hostId, workspaceId }));
      aheadMs = 1_000;
      const [overdue] = await enqueue(aRequest({ hostId: 'full', workspaceId: 'a' }));
      aheadMs = 600_000;
      live.push('third');
      const [late] = await enqueue(aRequest({ hostId: 'third', workspaceId: 'a' }));
      await look();
      expect(reported).toEqual([]);
      const [holder] = await control.reservations.holders();
      await release(holder!);
      aheadMs += 1_000;
      await look();
      expect(reported).toEqual([overdue]);
      expect(await control.queue.get(late!)).toMatchObject({ state: 'queued' });
    });

    test('several schedulers at once exceed no ceiling, and start each launch once', async () => {
      runs = 1;
      await control.settings.patch({ admission: { limits: { global: { ...none, runs: 9 } } } });
      await fleet(14);
      for (let n = 0; n < 3; n += 1) {
        await Promise.all([look(), look(), look()]);
        const usage = Object.entries(await control.reservations.usage());
        expect(usage.find(([key]) => key === globalScope.key)?.[1]).toMatchObject({ runs: 9 });
        for (const key of live.map(hostKey)) {
          expect(usage.find(([each]) => each === key)?.[1]?.runs ?? 0).toBeLessThanOrEqual(1);
        }
      }
      expect(reported).toHaveLength(9);
      expect(new Set(reported).size).toBe(9);
    });

    test('a host that has stopped taking work since it was read gets none', async () => {
      await enqueue(aRequest({ hostId: 'here' }));
      const { capacities } = control.hosts;
      control.hosts.capacities = async () => {
        const before = await capacities();
        away.push('here');
        return before;
      };
      await look();
      expect(reported).toEqual([]);
      expect(await control.reservations.holders()).toEqual([]);
      [away, control.hosts.capacities] = [[], capacities];
      await look();
      expect(reported).toHaveLength(1);
    });
  });

  test('behind entries whose root task is full, the first of another one goes, in the order of the queue', async () => {
    const limits = { global: { ...none, runs: 3 }, rootTask: { ...none, runs: 1 } };
    await control.settings.patch({ admission: { limits } });
    const [first, second] = await enqueue(...several(60, { rootTaskId: 'full' }));
    const [next] = await enqueue(aRequest());
    await look();
    expect(reported).toEqual([first, next]);
    expect(await limitsOf(second!)).toEqual(['root-task.runs']);
  });

  test('what waits for the ceiling of its workspace does not make others wait, of whatever the queue was full before', async () => {
    const limits = { global: { ...none, runs: 9 }, workspace: { ...none, runs: 1 } };
    await control.settings.patch({ admission: { limits } });
    const [first, ...others] = await enqueue(...several(50, { workspaceId: 'full' }));
    expect(await admit({ workspaceId: 'free' })).toBe('queued');
    await look();
    expect(reported).toEqual([expect.any(String), first].sort());
    for (const id of [others[0]!, others.at(-1)!]) {
      expect(await limitsOf(id)).toEqual(['workspace.runs']);
    }
    expect(await admit({ workspaceId: 'other' })).toBe('held');
    expect(await admit({ workspaceId: 'full' })).toBe('queued');
  });

  test('a launch that was handed out and never taken waits longer each time, and is given up in the end', async () => {
    const [id = ''] = await enqueue(aRequest());
    const { leaseMs, retryBackoffMs, maxRetries } = (await control.settings.current()).admission.queue;
    for (let retries = 0; retries <= maxRetries; retries += 1) {
      await look();
      expect(reported).toHaveLength(retries + 1);
      // The notified worker has died: nothing happens until the lease is over, however long everything else was away.
      await look();
      expect(await control.queue.get(id)).toMatchObject({ state: 'leased', retries });
      expect(await control.reservations.holders()).toEqual([id]);
      aheadMs += leaseMs + 1_000;
      const before = now().getTime();
      await look();
      if (retries === maxRetries) {
        break;
      }
      expect(await control.reservations.holders()).toEqual([]);
      const { state, notBefore } = (await control.queue.get(id))!;
      expect(state).toBe('requeued');
      const pauseMs = Date.parse(notBefore!) - before;
      expect(pauseMs).toBeGreaterThanOrEqual(retryBackoffMs * 2 ** retries);
      aheadMs += pauseMs;
    }
    expect(await control.queue.get(id)).toMatchObject({
      state: 'terminal',
      outcome: { code: 'QUEUE_RETRY_EXHAUSTED' },
    });
    expect(await control.reservations.holders()).toEqual([]);
  });

  test('a workspace that cannot be opened keeps its entries, and stops no other', async () => {
    const workspaceId = 'ws-0123456789ab';
    const [stuck] = await enqueue(aRequest({ workspaceId, priority: 3 }), aRequest({ workspaceId, edge: 'retry' }));
    const [fits] = await enqueue(aRequest());
    broken = workspaceId;
    await look();
    expect(reported).toEqual([fits]);
    expect(await control.queue.get(stuck!)).toMatchObject({ state: 'queued' });
    broken = undefined;
    await look();
    expect(reported).toEqual([fits, stuck]);
  });

  test('tasks of one id in two workspaces share no quota', async () => {
    await control.settings.patch({ admission: { limits: { rootTask: { runs: 1 }, global: { runs: 10 } } } });
    const same = { rootTaskId: 'task_same', taskId: 'task_same' };
    const [first, , other] = await enqueue(
      aRequest(same),
      aRequest(same),
      aRequest({ ...same, workspaceId: 'ws-0123456789ab' }),
    );
    await look();
    expect(new Set(reported)).toEqual(new Set([first, other]));
  });

  test('entries from before there were lines have their place in one', async () => {
    const entries = await database.collection<QueueRecord>({ name: 'admission-entries', indexes: [] });
    const [id] = await enqueue(aRequest());
    await entries.findOneAndUpdate({ _id: id! }, { $unset: { line: '' } });
    control = { ...control, queue: await createQueueStore(database) };
    const entry = (await control.queue.get(id!))!;
    expect(entry.line).toBe(laneOf(entry));
    await look();
    expect(reported).toEqual([id]);
  });
}
