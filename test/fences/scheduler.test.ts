import { createSchedulerActivities } from '../../activities/admission-scheduler/activities';
import { decideCapacity } from '../../activities/agent-run/admission/decide';
import { requireReservation } from '../../activities/agent-run/admission/hold';
import type { SelectionEvidence } from '../../contracts/runs/admission';
import { hostKey, policiesOf } from '../../domain/admission/capacity';
import type { AdmissionRequest } from '../../domain/admission/request';
import { sampleRequest } from '../../domain/admission/sample-request';
import type { WorkspaceTurn } from '../../domain/admission/schedule';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { reconcileReservations } from '../../worker/heartbeat';
import { aCompletion, anAttempt, at } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture, log } from './admission-fixture';

const id = 'attempt_fence000001';
const table = 'admission-entries';
const cancel = { keyHash: 'k', reason: 'enough', actor: 'ada', at: at(0) };
let now = new Date(at(0));
let fixture: AdmissionFixture;
let record: AttemptRecord | undefined;
/** The messages to the runs, and whether the runs are there to receive them. */
let reported: string[];
let stopped: string[];
let isThere: boolean;

beforeEach(async () => {
  now = new Date(at(0));
  fixture = await admissionFixture(() => now, 1);
  record = anAttempt(id, { state: 'queued' });
  [reported, stopped, isThere] = [[], [], true];
});
afterEach(async () => {
  expect(fixture.db.isThrough).toBe(true);
  await fixture.close();
});

async function queued(fields: Partial<AdmissionRequest> = {}): Promise<AdmissionRequest> {
  const { control } = fixture;
  const request = sampleRequest(id, { requestedAt: at(0), ...fields });
  await control.requests.put(request);
  await control.queue.enqueue({ ...request, enqueuedAt: at(0), limitingKey: null, limitingPolicies: [] });
  return request;
}
const look = (turn?: WorkspaceTurn) =>
  createSchedulerActivities({
    ...fixture.control,
    inWorkspace: async () => ({
      ...fixture.control,
      attempts: { get: async () => record },
      signalCapacity: async (attemptId) => {
        reported.push(attemptId);
        return isThere;
      },
      requestStop: async (attemptId) => {
        stopped.push(attemptId);
        return isThere;
      },
    }),
    log,
    now: () => now,
  }).dispatchQueued(turn && { turn });
const entry = () => fixture.control.queue.get(id);
const holders = () => fixture.control.reservations.holders();

describe('a queued launch that is cancelled', () => {
  it('is not handed out, neither when the scheduler sees that nor when it comes at that moment', async () => {
    await queued();
    fixture.db.before(table, 'findOneAndUpdate', () => fixture.control.queue.cancel(id, cancel));
    await look();
    expect(reported).toEqual([]);
    expect(await holders()).toEqual([]);
    expect(await entry()).toMatchObject({ state: 'queued', cancel: { actor: 'ada' } });
  });

  it('gets nothing that it was reserved while it ended', async () => {
    await queued();
    fixture.db.before('admission-reservations', 'insert', async () => {
      await fixture.control.queue.end(id, { code: 'QUEUE_CANCELLED', reason: 'enough', at: at(1) });
      record = anAttempt(id, { state: 'ended', completion: aCompletion('over') });
    });
    await look();
    expect(await holders()).toEqual([]);
    expect(await entry()).toMatchObject({ state: 'terminal', outcome: { code: 'QUEUE_CANCELLED' } });
    expect(await fixture.control.reservations.get(id)).toMatchObject({ state: 'released' });
  });

  it('is ended by its run, and by the scheduler only when that is gone, after a while', async () => {
    await queued();
    await fixture.control.queue.cancel(id, cancel);
    now = new Date(at(4_000));
    await look();
    expect(stopped).toEqual([]);
    now = new Date(at(5_000));
    await look();
    expect(stopped).toEqual([id]);
    expect(await entry()).toMatchObject({ state: 'queued' });
    isThere = false;
    await look();
    expect(await entry()).toMatchObject({ state: 'terminal', outcome: { code: 'QUEUE_CANCELLED', reason: 'enough' } });
    expect(await holders()).toEqual([]);
  });
});

it.each([
  ['is gone', undefined, 'released'],
  ['has ended', { completion: aCompletion('over') }, 'released'],
  ['was refused', { state: 'refused' as const }, 'released'],
  ['still waits', {}, 'expired'],
])('capacity of a run that cannot be signalled and %s is released', async (_, fields, state) => {
  await queued();
  isThere = false;
  record = fields && anAttempt(id, fields);
  await look();
  expect(reported).toEqual([id]);
  expect(await entry()).toMatchObject({ state: 'terminal', outcome: { code: 'QUEUE_AUTHORITY_REJECTED' } });
  expect(await fixture.control.reservations.get(id)).toMatchObject({ state });
  expect(await holders()).toEqual([]);
});

it('an entry whose capacity was taken at that moment is requeued in its place', async () => {
  await queued();
  fixture.db.after(table, 'findOneAndUpdate', async () => {
    const other = sampleRequest('attempt_fence000009');
    const { admission } = await fixture.control.settings.current();
    await fixture.control.reservations.reserve(other, policiesOf(admission, other), { now, leaseMs: 60_000 });
  });
  await look();
  expect(reported).toEqual([]);
  expect(await entry()).toMatchObject({ state: 'queued', enqueuedAt: at(0) });
  expect(await holders()).toEqual(['attempt_fence000009']);
});

it('what has no request any more is given up', async () => {
  await queued();
  await (await fixture.db.collection({ name: 'admission-requests' })).deleteMany({ _id: id });
  await look();
  expect(await entry()).toMatchObject({ state: 'terminal', outcome: { code: 'QUEUE_AUTHORITY_REJECTED' } });
  expect(reported).toEqual([]);
});

describe('entries of a workspace that cannot be opened', () => {
  const away = Array.from({ length: 100 }, (_, n) => `attempt_away${String(n).padStart(8, '0')}`);
  const isAway = async (workspaceId: string) => {
    if (workspaceId === 'away') {
      throw new Error('away');
    }
    const signals = { signalCapacity: async () => false, requestStop: async () => false };
    return { ...fixture.control, attempts: { get: async () => record }, ...signals };
  };

  it.each([
    ['to be ended', 'QUEUE_CANCELLED', (each: string) => fixture.control.queue.cancel(each, cancel)],
    [
      'whose dispatch was lost',
      'QUEUE_RETRY_EXHAUSTED',
      async (each: string) => fixture.control.queue.lease(each, {} as SelectionEvidence, at(1)),
    ],
  ])('are not in the way of others %s', async (_, code, change) => {
    await fixture.control.settings.patch({ admission: { queue: { maxRetries: 0 } } });
    for (const attemptId of [...away, id]) {
      await queued({ attemptId, workspaceId: attemptId === id ? 'w' : 'away' });
      await change(attemptId);
    }
    now = new Date(at(10_000));
    const activities = createSchedulerActivities({ ...fixture.control, inWorkspace: isAway, log, now: () => now });
    await activities.dispatchQueued();
    await activities.dispatchQueued();
    expect(await entry()).toMatchObject({ state: 'terminal', outcome: { code } });
    expect((await fixture.control.queue.get(away[0]!))?.state).not.toBe('terminal');
  });
});

describe('while every run slot is taken', () => {
  const other = 'attempt_fence000009';
  beforeEach(async () => {
    await queued();
    await fixture.control.reservations.reserve(sampleRequest(other), [], { now, leaseMs: 60_000 });
  });

  it('no entry is read, and the turn of the workspace remains', async () => {
    const before = await entry();
    const turn = { workspaceId: 'w', rootTaskId: 'r' } as unknown as WorkspaceTurn;
    expect(await look(turn)).toEqual({ waiting: 1, turn });
    expect([reported, await entry()]).toEqual([[], before]);
  });

  it('what waits continues when one is free, or when nothing is limited', async () => {
    await fixture.control.settings.patch({ admission: { enabled: false } });
    expect(await look()).toMatchObject({ waiting: 1 });
    expect(reported).toEqual([id]);
    await fixture.control.queue.dispatched(id, at(1));
    expect(await look()).toMatchObject({ waiting: 0 });
  });
});

describe('a launch that asks for capacity', () => {
  const request = sampleRequest(id, { hostId: 'here', workspaceId: 'w' });
  const decide = (fields: Partial<AdmissionRequest> = {}, options?: { reserve: boolean }) =>
    decideCapacity(fixture.control, { ...request, ...fields }, options);
  const held = (attemptId: string) =>
    fixture.control.reservations.reserve(sampleRequest(attemptId), [], { now, leaseMs: 60_000 });

  it('waits for the ceiling that is in its way, and others wait behind it', async () => {
    await fixture.control.settings.patch({ admission: { limits: { global: { runs: 9 } } } });
    fixture.host.runs = 1;
    await decide({ attemptId: 'attempt_fence000008', nodeId: 'n', rootObjectiveId: 'r', hostId: 'here' });
    expect(await decide()).toMatchObject({ decision: 'queued', launch: { limitingScopes: [{ scope: 'host' }] } });
    expect(await entry()).toMatchObject({ limitingKey: hostKey('here') });
    await fixture.control.reservations.release('attempt_fence000008', { reason: 'completed', evidence: 'over', now });
    const behind = { attemptId: 'attempt_fence000007', nodeId: 'm', rootObjectiveId: 'q' };
    expect(await decide(behind)).toMatchObject({ decision: 'queued' });
    expect(await fixture.control.queue.get(behind.attemptId)).toMatchObject({
      limitingKey: hostKey('here'),
      limitingPolicies: [{ scope: 'host' }],
    });
    expect(await holders()).toEqual([]);
    // Without a queue no launch waits for another.
    await fixture.control.settings.patch({ admission: { queue: { enabled: false } } });
    const third = { attemptId: 'attempt_fence000006', nodeId: 'o', rootObjectiveId: 'p' };
    expect(await decide(third)).toEqual({ decision: 'held' });
  });

  it('that waits is where it was when it is asked again, also when there is room by then', async () => {
    await held('attempt_fence000009');
    const first = await decide();
    expect(first).toMatchObject({ decision: 'queued' });
    await fixture.control.reservations.release('attempt_fence000009', { reason: 'completed', evidence: 'over', now });
    now = new Date(now.getTime() + 1_000);
    expect(await decide()).toEqual(first);
    expect(await holders()).toEqual([]);
  });

  it("may be put behind everybody without being in anything's way", async () => {
    expect(await decide({}, { reserve: false })).toMatchObject({
      decision: 'queued',
      launch: { limitingScopes: [{ scope: 'global', scopeId: 'global' }] },
    });
    expect(await entry()).toMatchObject({ limitingKey: 'global' });
    expect(await holders()).toEqual([]);
  });

  it('is over when what it held was released', async () => {
    await decide();
    await fixture.control.reservations.release(id, { reason: 'cancelled', evidence: 'over', now });
    expect(await decide()).toMatchObject({
      decision: 'refused',
      launch: { code: 'ADMISSION_RESERVATION_MISSING', details: { host: hostKey('here') } },
    });
  });

  it('is refused by a full queue of its workspace, and names what it is refused for', async () => {
    await held('attempt_fence000009');
    await fixture.control.settings.patch({ admission: { queue: { perWorkspaceLimit: 1 } } });
    await decide();
    const next = { attemptId: 'attempt_fence000008', nodeId: 'n', rootObjectiveId: 'r' };
    expect(await decide(next)).toMatchObject({
      launch: { code: 'ADMISSION_QUEUE_OVERFLOW', details: { scope: 'workspace', scopeId: 'w', current: 1, limit: 1 } },
    });
    await fixture.control.settings.patch({ admission: { queue: { enabled: false } } });
    expect(await decide(next)).toMatchObject({
      launch: { code: 'ADMISSION_OVERLOAD', details: { scope: 'global', scopeId: 'global' } },
    });
    expect(await decide(next, { reserve: false })).toMatchObject({
      launch: { code: 'ADMISSION_OVERLOAD', details: { scope: 'global', scopeId: 'global' } },
    });
  });
});

describe('a launch that is refused', () => {
  const root = sampleRequest('attempt_fence000001', { hostId: 'here' });
  const child = (n: number, fields: Partial<AdmissionRequest> = {}) =>
    sampleRequest(`attempt_fence00001${n}`, {
      rootObjectiveId: root.rootObjectiveId,
      parentNodeId: root.nodeId,
      edge: 'child-agent',
      depth: 1,
      ...fields,
    });
  const descendants = async () => (await fixture.control.trees.get(root.rootObjectiveId))?.descendants;

  it('leaves its tree, and one that is held or waits stays in it', async () => {
    await decideCapacity(fixture.control, root);
    const tooMuch = child(1, { requested: { runs: 9, processes: 1, memoryMb: 1 } });
    expect(await decideCapacity(fixture.control, tooMuch)).toMatchObject({
      decision: 'refused',
      launch: { code: 'ADMISSION_POLICY_DENIED' },
    });
    expect(await descendants()).toBe(0);
    expect(await decideCapacity(fixture.control, child(2))).toMatchObject({ decision: 'queued' });
    expect(await descendants()).toBe(1);
    // Asked again it is where it was, and is not counted twice.
    expect(await decideCapacity(fixture.control, child(2))).toMatchObject({ decision: 'queued' });
    expect(await descendants()).toBe(1);
  });

  it('is refused when what it asks for is over, without a queue, and with a full one', async () => {
    await decideCapacity(fixture.control, root);
    await fixture.control.settings.patch({ admission: { queue: { globalLimit: 1 } } });
    await decideCapacity(fixture.control, child(1));
    expect(await decideCapacity(fixture.control, child(2))).toMatchObject({
      launch: { code: 'ADMISSION_QUEUE_OVERFLOW' },
    });
    await fixture.control.settings.patch({ admission: { queue: { enabled: false } } });
    expect(await decideCapacity(fixture.control, child(3))).toMatchObject({ launch: { code: 'ADMISSION_OVERLOAD' } });
    expect(await descendants()).toBe(1);
  });

  it('enters no tree that was cancelled', async () => {
    await decideCapacity(fixture.control, root);
    await fixture.control.trees.cancel(root.rootObjectiveId, {
      action: 'cancel',
      actor: 'a',
      reason: 'r',
      at: at(1),
      keyHash: null,
    });
    for (const request of [root, child(1)]) {
      expect(await decideCapacity(fixture.control, request)).toMatchObject({
        decision: 'refused',
        launch: { code: 'EXECUTION_TREE_CANCELLED' },
      });
    }
  });
});

describe('before a provider is called', () => {
  it('a reservation that was taken in between is none', async () => {
    await queued();
    const request = (await fixture.control.requests.get(id))!;
    await fixture.control.reservations.reserve(request, [], { now, leaseMs: 1_000 });
    const { admission } = await fixture.control.settings.current();
    fixture.db.before('admission-reservations', 'findOneAndUpdate', async () => {
      await fixture.control.reservations.releaseForRequeue(id, now);
      const other = sampleRequest('attempt_fence000009');
      await fixture.control.reservations.reserve(other, policiesOf(admission, other), { now, leaseMs: 60_000 });
    });
    await expect(requireReservation(fixture.control, id)).rejects.toMatchObject({
      type: 'ADMISSION_RESERVATION_MISSING',
    });
    expect(await holders()).toEqual(['attempt_fence000009']);
  });
});

it('what an attempt holds is given back once it has ended, and not before, nor at once', async () => {
  const { reservations } = fixture.control;
  const request = await queued();
  await reservations.reserve(request, [], { now, leaseMs: 60_000 });
  const attempts = { get: async () => record };
  const reconcile = (ms: number) =>
    reconcileReservations({ hostId: 'here', admission: { reservations }, attempts }, new Date(at(ms)));
  record = anAttempt(id, { state: 'running' });
  expect(await reconcile(120_000)).toBe(0);
  record = anAttempt(id, { state: 'ended' });
  expect(await reconcile(59_000)).toBe(0);
  expect(await reconcile(61_000)).toBe(1);
  expect(await holders()).toEqual([]);
});
