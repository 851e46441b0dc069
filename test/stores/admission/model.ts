import fc from 'fast-check';
import { nothing, policiesOf } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Database } from '../../../stores/port/collection';
import { createQueueStore, type QueueStore } from '../../../stores/runs/admission/queue-store';
import { createReservationStore, type ReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createTreeStore, type TreeStore } from '../../../stores/runs/admission/tree-store';
import { defaultFeatures } from '../../../stores/settings/settings-store';

const leaseMs = 1_000;
const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 5, BOARD_RUN_TIMEOUT_MS: 60_000 });
const settings = {
  ...admission,
  limits: {
    ...admission.limits,
    host: { runs: 3, processes: null, memoryMb: 2_048 },
    workspace: { ...admission.limits.workspace, processes: 6 },
  },
};

/** What must be true, as simply as possible. */
interface Model {
  held: Map<string, { request: AdmissionRequest; expiresAt: number }>;
  over: Set<string>;
  queued: Set<string>;
  ended: Set<string>;
  tree: 'open' | 'paused' | 'cancelled';
  nodes: Set<string>;
  now: number;
}

interface Real {
  reservations: ReservationStore;
  queue: QueueStore;
  trees: TreeStore;
  prefix: string;
}

type Command = fc.AsyncCommand<Model, Real>;

const requestOf = ({ prefix }: Real, n: number): AdmissionRequest =>
  sampleRequest(`${prefix}-${n}`, {
    taskId: `task-${n}`,
    rootTaskId: `task-${n % 3}`,
    workspaceId: `${prefix}-w${n % 2}`,
    hostId: n % 4 === 0 ? null : `${prefix}-h${n % 2}`,
    edge: n === 0 ? 'root' : 'child-agent',
    rootObjectiveId: `${prefix}-0`,
    parentNodeId: n === 0 ? null : `${prefix}-0`,
    depth: n === 0 ? 0 : 1,
    priority: n % 4,
    requested: { runs: 1, processes: 1 + (n % 3), memoryMb: 512 * (1 + (n % 2)) },
  });

/** Whether the reference has capacity: every ceiling, counted from nothing each time. */
function hasRoom(model: Model, request: AdmissionRequest): boolean {
  return policiesOf(settings, request).every(({ scope, resource, limit }) => {
    const alike = [...model.held.values()].filter(({ request: other }) =>
      scope === 'host'
        ? other.hostId === request.hostId
        : scope === 'workspace'
          ? other.workspaceId === request.workspaceId
          : scope === 'global',
    );
    const used = alike.reduce((sum, { request: other }) => sum + other.requested[resource], 0);
    return used + request.requested[resource] <= limit;
  });
}

/** The ledger records exactly what the reference holds: nothing exceeded, nothing lost. */
async function agree(model: Model, { reservations }: Real): Promise<void> {
  const usage = await reservations.usage();
  const held = [...model.held.values()];
  const total = (resource: 'runs' | 'processes' | 'memoryMb') =>
    held.reduce((sum, { request }) => sum + request.requested[resource], 0);
  expect(usage.global ?? { runs: 0, processes: 0, memoryMb: 0 }).toEqual({
    runs: total('runs'),
    processes: total('processes'),
    memoryMb: total('memoryMb'),
  });
  expect((await reservations.holders()).sort()).toEqual([...model.held.keys()].sort());
  expect(total('runs')).toBeLessThanOrEqual(5);
}

const at = (model: Model): Date => new Date(model.now);

const command = (name: string, run: (model: Model, real: Real) => Promise<void>, check = () => true): Command => ({
  check,
  async run(model, real) {
    await run(model, real);
    await agree(model, real);
  },
  toString: () => name,
});

async function reserve(model: Model, real: Real, n: number): Promise<string> {
  const request = requestOf(real, n);
  const { attemptId } = request;
  const room = hasRoom(model, request);
  const answer = await real.reservations.reserve(request, policiesOf(settings, request), { now: at(model), leaseMs });
  const expected = model.over.has(attemptId) ? 'over' : model.held.has(attemptId) || room ? 'held' : 'blocked';
  expect(answer.outcome).toBe(expected);
  if (expected === 'held' && !model.held.has(attemptId)) {
    model.held.set(attemptId, { request, expiresAt: model.now + leaseMs });
  }
  return answer.outcome;
}

const commands = (n: fc.Arbitrary<number>) => [
  n.map((id) =>
    command(`reserve ${id}`, async (model, real) => {
      await reserve(model, real, id);
    }),
  ),
  n.map((id) =>
    command(`release ${id}`, async (model, real) => {
      const { attemptId } = requestOf(real, id);
      await real.reservations.release(attemptId, { reason: 'completed', evidence: 'done', now: at(model) });
      const known = await real.reservations.get(attemptId);
      if (known) {
        model.over.add(attemptId);
      }
      model.held.delete(attemptId);
    }),
  ),
  fc.nat(1_500).map((ms) =>
    command(`expire after ${ms} ms`, async (model, real) => {
      model.now += ms;
      const expired = await real.reservations.expire(at(model));
      const due = [...model.held].filter(([, { expiresAt }]) => expiresAt < model.now).map(([id]) => id);
      expect(expired.map(({ _id }) => _id).sort()).toEqual(due.sort());
      for (const id of due) {
        model.held.delete(id);
      }
    }),
  ),
  fc.constantFrom(null, 0, 1).map((host) =>
    command(`renew ${String(host)}`, async (model, real) => {
      const hostId = host === null ? null : `${real.prefix}-h${host}`;
      await real.reservations.renewHost(hostId, at(model), leaseMs);
      for (const each of model.held.values()) {
        if (each.request.hostId === hostId) {
          each.expiresAt = model.now + leaseMs;
        }
      }
    }),
  ),
  fc.constant(
    command('repair', async (model, real) => {
      expect(await real.reservations.repair(at(model))).toBe(0);
    }),
  ),
  n.map((id) =>
    command(`enqueue ${id}`, async (model, real) => {
      const request = requestOf(real, id);
      await real.queue.enqueue({
        ...request,
        enqueuedAt: at(model).toISOString(),
        limitingKey: 'global',
        limitingPolicies: [],
      });
      if (!model.ended.has(request.attemptId)) {
        model.queued.add(request.attemptId);
      }
    }),
  ),
  n.map((id) =>
    command(`dispatch ${id}`, async (model, real) => {
      const { attemptId } = requestOf(real, id);
      const until = new Date(model.now + leaseMs).toISOString();
      const selection = { evaluatedAt: until, effectivePriority: 1, promotions: 0, workspaceTurn: 0, position: 1 };
      const leased = await real.queue.lease(attemptId, selection, until);
      expect(leased !== undefined).toBe(model.queued.has(attemptId));
      if (!leased) {
        return;
      }
      if ((await reserve(model, real, id)) !== 'held') {
        await real.queue.putBack(attemptId);
        return;
      }
      expect(await real.queue.dispatched(attemptId, until)).toMatchObject({ state: 'dispatched' });
      model.queued.delete(attemptId);
      model.ended.add(attemptId);
    }),
  ),
  n.map((id) =>
    command(`cancel ${id}`, async (model, real) => {
      const { attemptId } = requestOf(real, id);
      const asked = { keyHash: 'k', reason: 'r', actor: 'a', at: at(model).toISOString() };
      expect((await real.queue.cancel(attemptId, asked)) !== undefined).toBe(model.queued.has(attemptId));
      await real.queue.end(attemptId, { code: 'QUEUE_CANCELLED', reason: 'r', at: asked.at });
      if (model.queued.delete(attemptId)) {
        model.ended.add(attemptId);
      }
    }),
  ),
  n.map((id) =>
    command(`node ${id}`, async (model, real) => {
      const request = requestOf(real, id);
      if (id === 0) {
        await real.trees.open(request);
        return;
      }
      const before = model.nodes.has(request.nodeId);
      const added = await real.trees.register(request, 4);
      expect(added !== undefined).toBe(model.tree === 'open' && (before || model.nodes.size < 4));
      if (added) {
        model.nodes.add(request.nodeId);
      }
      const tree = await real.trees.get(request.rootObjectiveId);
      expect(tree?.descendants).toBe(model.nodes.size);
    }),
  ),
  fc.constantFrom('pause', 'resume', 'cancel').map((action) =>
    command(action, async (model, real) => {
      const id = `${real.prefix}-0`;
      const note = { action: action as 'pause', actor: 'a', reason: 'r', at: at(model).toISOString(), keyHash: null };
      const from = { pause: ['open'], resume: ['paused'], cancel: ['open', 'paused'] }[action];
      const to = ({ pause: 'paused', resume: 'open', cancel: 'cancelled' } as const)[action as 'pause'];
      const changed =
        action === 'pause'
          ? await real.trees.pause(id, [], note)
          : action === 'resume'
            ? await real.trees.resume(id, note)
            : await real.trees.cancel(id, note);
      expect(changed !== undefined).toBe(from.includes(model.tree));
      if (changed) {
        model.tree = to;
      }
    }),
  ),
];

/** Every operation of admission, in random order, against a reference that fits on a page. */
export function admissionModel(open: () => Promise<Database>, numRuns: number): void {
  test('reserve, release, expire, enqueue, dispatch, cancel, pause and resume agree with a small reference', async () => {
    const database = await open();
    try {
      const [reservations, queue, trees] = await Promise.all([
        createReservationStore(database),
        createQueueStore(database),
        createTreeStore(database),
      ]);
      let runs = 0;
      const property = fc.asyncProperty(fc.commands(commands(fc.nat(11)), { maxCommands: 40 }), async (list) => {
        runs += 1;
        const real: Real = { reservations, queue, trees, prefix: `m${process.pid}x${Date.now()}x${runs}` };
        // The ledger is one for all: what the last round left is released first.
        for (const id of await reservations.holders()) {
          await reservations.release(id, { reason: 'reconciled', evidence: 'next', now: new Date(0) });
        }
        await trees.open(requestOf(real, 0));
        const model: Model = {
          held: new Map(),
          over: new Set(),
          queued: new Set(),
          ended: new Set(),
          tree: 'open',
          nodes: new Set(),
          now: Date.now(),
        };
        await fc.asyncModelRun(() => ({ model, real }), list);
      });
      await fc.assert(property, { numRuns, endOnFailure: true });
    } finally {
      await database.close();
    }
  }, 180_000);

  test('of many who reserve at once exactly as many succeed as there is room for, and one key is one reservation', async () => {
    const databases = await Promise.all([open(), open()]);
    try {
      const stores = await Promise.all(databases.map((db) => createReservationStore(db)));
      const real = { prefix: `c${process.pid}x${Date.now()}` } as Real;
      for (const id of await stores[0]!.holders()) {
        await stores[0]!.release(id, { reason: 'reconciled', evidence: 'next', now: new Date() });
      }
      const answers = await Promise.all(
        Array.from({ length: 24 }, async (_, n) => {
          const request = { ...requestOf(real, (n % 12) * 4), requested: { runs: 1, processes: 0, memoryMb: 0 } };
          const { outcome } = await stores[n % 2]!.reserve(request, policiesOf(settings, request), {
            now: new Date(),
            leaseMs: 60_000,
          });
          return { id: request.attemptId, outcome };
        }),
      );
      const held = new Set(answers.filter(({ outcome }) => outcome === 'held').map(({ id }) => id));
      expect(held.size).toBe(5);
      for (const { id, outcome } of answers) {
        if (held.has(id)) {
          expect(outcome).toBe('held');
        }
      }
      expect((await stores[1]!.usage()).global).toEqual({ runs: 5, processes: 0, memoryMb: 0 });
      await Promise.all(
        [...held, ...held].map((id, n) =>
          stores[n % 2]!.release(id, { reason: 'completed', evidence: 'done', now: new Date() }),
        ),
      );
      // Scopes without use are deleted now and then.
      expect((await stores[0]!.usage()).global ?? nothing).toEqual(nothing);
    } finally {
      await Promise.all(databases.map((database) => database.close()));
    }
  }, 60_000);
}
