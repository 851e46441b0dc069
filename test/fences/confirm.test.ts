import { type ConfirmDependencies, confirmDispatch } from '../../activities/agent-run/admission/confirm';
import type { PolicyFields } from '../../contracts/governance/policy';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import { policiesOf } from '../../domain/admission/capacity';
import type { AdmissionRequest } from '../../domain/admission/request';
import { sampleRequest } from '../../domain/admission/sample-request';
import { launchedAgent } from '../../domain/launch-options';
import { openGovernanceStores } from '../../stores/governance/open';
import { type ActiveRunStore, createActiveRunStore } from '../../stores/runs/admission/active-run-store';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../stores/runs/attempt-store';
import { createFeedStore } from '../../stores/system/feed-store';
import { createRateCountStore } from '../../stores/system/rate-count-store';
import { anAgent } from '../support/factories/agent';
import { anAttempt, at, taskId } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture } from './admission-fixture';

const id = 'attempt_fence000001';
const repository = { name: 'demo', path: '/demo', defaultBranch: 'main' };
const selection = { evaluatedAt: at(1), effectivePriority: 1, promotions: 0, workspaceTurn: 0, position: 1 };

let now = new Date(at(0));
let fixture: AdmissionFixture;
let attempts: AttemptStore;
let activeRuns: ActiveRunStore;
/** What is outside admission and may change while a launch waits. */
let outside: {
  location: 'active' | 'archive' | undefined;
  status: string;
  agents: AgentConfig[];
  repository: object | undefined;
};
let request: AdmissionRequest;
let record: AttemptRecord;

const agent = anAgent();
let governance: Awaited<ReturnType<typeof openGovernanceStores>>;
const aPolicy = (form: object) =>
  governance.policies.create('mine', {
    ...{ name: 'Mine', description: '', enabled: true, scope: {}, precedence: 0 },
    ...form,
  } as PolicyFields);

beforeEach(async () => {
  now = new Date(at(0));
  fixture = await admissionFixture(() => now);
  attempts = await createAttemptStore(fixture.db);
  activeRuns = await createActiveRunStore(fixture.db);
  governance = await openGovernanceStores(fixture.db, {
    ...{ rates: await createRateCountStore(fixture.db), settings: fixture.control.settings, attempts },
    feed: await createFeedStore(fixture.db),
  });
  outside = { location: 'active', status: 'todo', agents: [agent], repository };
});
afterEach(() => fixture.close());

const deps = (): ConfirmDependencies =>
  ({
    admission: fixture.control,
    rules: governance.rules,
    attempts,
    activeRuns,
    routing: { inputs: async () => ({ agents: outside.agents }) },
    repositories: { find: async () => outside.repository },
    board: {
      get: async () =>
        outside.location ? { location: outside.location, task: { status: outside.status } } : undefined,
    },
  }) as unknown as ConfirmDependencies;
const confirm = () => confirmDispatch(deps(), id);

/** A launch that has waited and was given capacity: from here on only something else can stop it. */
async function leased(fields: Partial<AdmissionRequest> = {}): Promise<void> {
  const { control } = fixture;
  request = sampleRequest(id, { taskId, hostId: 'here', phase: 'implement', requestedAt: at(0), ...fields });
  await control.trees.open({ ...request, nodeId: request.rootObjectiveId, edge: 'root', parentNodeId: null });
  await control.requests.put(request);
  const base = anAttempt(id, { state: 'queued', repository, taskStatus: 'todo' });
  record = { ...base, agentConfig: launchedAgent(agent, base) };
  await attempts.create(record);
  await activeRuns.take(taskId, id);
  await control.queue.enqueue({ ...request, enqueuedAt: at(0), limitingKey: null, limitingPolicies: [] });
  await control.queue.lease(id, selection, at(30_000));
  const { admission } = await control.settings.current();
  await control.reservations.reserve(request, policiesOf(admission, request), { now, leaseMs: 60_000 });
}

it('continues with a launch of which nothing has changed, once and whenever it is asked again', async () => {
  await leased();
  now = new Date(at(5_000));
  expect(await confirm()).toEqual({ turn: 'go' });
  expect(await fixture.control.queue.get(id)).toMatchObject({ state: 'dispatched' });
  const { heartbeatAt } = (await fixture.control.reservations.get(id))!;
  expect(heartbeatAt).toBe(at(5_000));
  // Whatever changes afterwards: the run owns itself.
  outside.location = undefined;
  expect(await confirm()).toEqual({ turn: 'go' });
});

it('continues with a launch that never waited, and waits with one that has not been handed out', async () => {
  expect(await confirm()).toEqual({ turn: 'go' });
  await leased();
  await fixture.control.queue.putBack(id);
  expect(await confirm()).toEqual({ turn: 'wait' });
  // What has changed is checked once it was handed out.
  outside.location = 'archive';
  expect(await confirm()).toEqual({ turn: 'wait' });
  expect(await fixture.control.queue.get(id)).toMatchObject({ state: 'queued' });
});

/** Each thing that may have changed while the launch waited, and the code of its refusal. */
const drifts: [string, string, () => unknown][] = [
  [
    'its ceilings no longer hold it',
    'ADMISSION_POLICY_DRIFT',
    () =>
      fixture.control.settings.patch({
        admission: { limits: { global: { runs: 2, processes: null, memoryMb: 1 } } },
      }),
  ],
  ['its task was archived', 'ADMISSION_QUEUE_DRIFT', () => (outside.location = 'archive')],
  ['its task was set to done', 'ADMISSION_QUEUE_DRIFT', () => (outside.status = 'done')],
  ['its task was blocked', 'ADMISSION_QUEUE_DRIFT', () => (outside.status = 'blocked')],
  ['its task is gone', 'ADMISSION_QUEUE_DRIFT', () => (outside.location = undefined)],
  [
    'its task was taken by another run',
    'QUEUE_TASK_BUSY',
    () => activeRuns.handOver(taskId, id, 'attempt_fence000002'),
  ],
  ['its task is no longer its own', 'QUEUE_TASK_BUSY', () => activeRuns.release(taskId, id)],
  ['its agent was removed', 'ADMISSION_QUEUE_DRIFT', () => (outside.agents = [])],
  ['its agent was disabled', 'ADMISSION_QUEUE_DRIFT', () => (outside.agents = [{ ...agent, enabled: false }])],
  ['its agent was configured anew', 'ADMISSION_QUEUE_DRIFT', () => (outside.agents = [{ ...agent, command: 'wasp' }])],
  ['its repository is gone', 'ADMISSION_QUEUE_DRIFT', () => (outside.repository = undefined)],
  [
    'its repository was changed',
    'ADMISSION_QUEUE_DRIFT',
    () => (outside.repository = { ...repository, path: '/other' }),
  ],
  [
    'a policy forbids it',
    'POLICY_BLOCKED',
    () => aPolicy({ type: 'block-action-type', responseAction: 'block', config: { actionTypes: ['launch'] } }),
  ],
  [
    'a policy wants an approval of it',
    'APPROVAL_REQUIRED',
    () =>
      aPolicy({ type: 'require-approval', responseAction: 'require-approval', config: { reason: '', approvers: [] } }),
  ],
  [
    'its tree was cancelled',
    'EXECUTION_TREE_CANCELLED',
    () => fixture.control.trees.cancel(id, { action: 'cancel', actor: 'a', reason: 'r', at: at(1), keyHash: null }),
  ],
];

it.each(drifts)('refuses a launch when %s', async (_, code, drift) => {
  await leased();
  await drift();
  expect(await confirm()).toMatchObject({ turn: 'refused', launch: { code, status: 'refused' } });
  expect(await fixture.control.queue.get(id)).toMatchObject({ state: 'terminal', outcome: { code } });
  // Sent again, because its response was lost, it returns the same.
  expect(await confirm()).toMatchObject({ turn: 'refused', launch: { code } });
});

it('names the ceiling that a launch no longer fits under', async () => {
  await leased();
  await fixture.control.settings.patch({
    admission: { limits: { global: { runs: 2, processes: null, memoryMb: 1 } } },
  });
  expect(await confirm()).toMatchObject({ launch: { details: { policy: 'global.memoryMb', limit: 1 } } });
});

it('refuses a launch whose phase, parent, tree or record is another now', async () => {
  await leased({ phase: 'explore' });
  expect(await confirm()).toMatchObject({ launch: { code: 'ADMISSION_QUEUE_DRIFT', details: { field: 'phase' } } });
});

it('refuses a launch whose parent is gone', async () => {
  await leased({ parentNodeId: 'attempt_fence000009', edge: 'child-agent', depth: 1 });
  expect(await confirm()).toMatchObject({ launch: { details: { field: 'parent' } } });
});

it('refuses a launch whose tree is gone', async () => {
  await leased();
  const trees = await fixture.db.collection({ name: 'execution-trees' });
  await trees.deleteMany({ _id: id });
  expect(await confirm()).toMatchObject({ launch: { details: { field: 'root' } } });
});

it('finds its own agent among others, and needs no repository', async () => {
  await leased();
  outside.agents = [{ ...agent, type: 'wasp', command: 'wasp' }, agent];
  await (
    await fixture.db.collection<AttemptRecord>({ name: 'attempts' })
  ).findOneAndUpdate({ _id: id }, { $set: { repository: null } });
  outside.repository = undefined;
  expect(await confirm()).toEqual({ turn: 'go' });
});

it('refuses a continuation that was turned off while it waited', async () => {
  const { settings, trees } = fixture.control;
  await settings.patch({ watcher: { enabled: true } });
  await leased({ source: 'watcher' });
  await settings.patch({ watcher: { enabled: false } });
  expect(await confirm()).toMatchObject({ launch: { code: 'CONTINUATION_BLOCKED' } });
  expect(await trees.get(id)).toMatchObject({ state: 'open' });
});

it('refuses a continuation that has to be asked about since it waited', async () => {
  const { settings } = fixture.control;
  await settings.patch({ watcher: { enabled: true, globalKillSwitch: false, defaultMode: 'auto' } });
  await leased({ source: 'watcher' });
  await settings.patch({ watcher: { defaultMode: 'ask_always' } });
  expect(await confirm()).toMatchObject({ launch: { code: 'CONTINUATION_NEEDS_APPROVAL' } });
});

describe('under a budget of its tree', () => {
  const child = { parentNodeId: 'attempt_fence000009', edge: 'child-agent', depth: 1 } as const;
  /** Asks again while the runs of the tree have used so many tokens of ten. */
  const confirmAt = async (inputTokens: number) => {
    await attempts.create(anAttempt('attempt_fence000009'));
    await fixture.control.settings.patch({ admission: { treeBudget: { tokens: 10, costUsd: null } } });
    const telemetry = { usageOf: async () => ({ inputTokens, outputTokens: 0, cacheTokens: 0, cost: 0 }) };
    return confirmDispatch({ ...deps(), admission: { ...fixture.control, telemetry } }, id);
  };
  const treeState = async () => (await fixture.control.trees.get(id))?.state;

  it('continues while some is left', async () => {
    await leased(child);
    expect(await confirmAt(9)).toEqual({ turn: 'go' });
    expect(await treeState()).toBe('open');
  });

  it('is refused once nothing is left, and its tree paused', async () => {
    await leased(child);
    expect(await confirmAt(10)).toMatchObject({ launch: { code: 'ADMISSION_BUDGET_EXHAUSTED' } });
    expect(await treeState()).toBe('paused');
  });

  it('continues when it is the root, whatever was used', async () => {
    await leased();
    expect(await confirmAt(10)).toEqual({ turn: 'go' });
  });
});

it.each([
  ['attempts', 'attempts'],
  ['request', 'admission-requests'],
])('refuses a launch without its %s', async (_, name) => {
  await leased();
  await (await fixture.db.collection({ name })).deleteMany({ _id: id });
  expect(await confirm()).toMatchObject({ launch: { code: 'ADMISSION_QUEUE_TARGET_MISSING' } });
});

it.each([
  ['its reservation has lapsed', () => fixture.control.reservations.releaseForRequeue(id, now)],
  ['its host is away', () => (fixture.host.takesWork = false)],
])('puts a launch back when %s, and holds nothing for it', async (_, lapse) => {
  await leased();
  await lapse();
  expect(await confirm()).toEqual({ turn: 'wait' });
  expect(await fixture.control.queue.get(id)).toMatchObject({ state: 'queued' });
  expect(await fixture.control.reservations.holders()).toEqual([]);
});

it('needs no host for a run that none of ours executes', async () => {
  await leased({ hostId: null });
  fixture.host.takesWork = false;
  expect(await confirm()).toEqual({ turn: 'go' });
});

describe('at the moment of its dispatch', () => {
  const table = 'admission-entries';

  it('continues when another try of it was first', async () => {
    await leased();
    fixture.db.before(table, 'findOneAndUpdate', () => fixture.control.queue.dispatched(id, at(1)));
    expect(await confirm()).toEqual({ turn: 'go' });
  });

  it('is refused when it was ended', async () => {
    await leased();
    const outcome = { code: 'QUEUE_CANCELLED', reason: 'enough', at: at(1) };
    fixture.db.before(table, 'findOneAndUpdate', () => fixture.control.queue.end(id, outcome));
    expect(await confirm()).toMatchObject({ turn: 'refused', launch: { code: 'QUEUE_CANCELLED', message: 'enough' } });
  });

  it('waits when its end was asked for', async () => {
    await leased();
    const asked = { keyHash: 'k', reason: 'r', actor: 'a', at: at(1) };
    fixture.db.before(table, 'findOneAndUpdate', () => fixture.control.queue.cancel(id, asked));
    expect(await confirm()).toEqual({ turn: 'wait' });
  });
});
