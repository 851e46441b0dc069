import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { decideCapacity } from '../../../activities/agent-run/admission/decide';
import { type AdmissionControl, retryAfter } from '../../../activities/agent-run/admission/dependencies';
import { budgetScope } from '../../../contracts/settings/budget';
import { type Features, features } from '../../../contracts/settings/settings';
import { breakerSignals } from '../../../domain/admission/breaker';
import { budgetUse } from '../../../domain/admission/budget';
import { type CapacityPolicy, policiesOf } from '../../../domain/admission/capacity';
import { type AdmissionRequest, queuePriority } from '../../../domain/admission/request';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { type Candidate, effectivePriority, schedule } from '../../../domain/admission/schedule';
import { usesOf } from '../../../domain/budgets/use';
import { commitPolicyOf } from '../../../domain/contract/commit-policy';
import { isContinuedByWatcher } from '../../../domain/governance/watched-end';
import { inventoryOf, trustAtLaunch } from '../../../domain/workspaces/trust';
import { createAdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import { createQueueStore } from '../../../stores/runs/admission/queue-store';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../../stores/runs/admission/tree-store';
import { agentKey, type ApiUnderTest, type CallOptions, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
let control: AdmissionControl;
beforeAll(async () => {
  board = await startTestApi();
  const { database, settings, telemetry, traces, log } = board.api.context;
  control = {
    requests: await createAdmissionRequestStore(database),
    reservations: await createReservationStore(database),
    queue: await createQueueStore(database),
    trees: await createTreeStore(database),
    hosts: { capacityOf: async () => ({ takesWork: true, runs: undefined }), capacities: async () => new Map() },
    wakeScheduler: async () => undefined,
    now: () => new Date(),
    settings,
    telemetry,
    traces,
    log,
  };
});
afterAll(() => board.close());

type Value = string | number | boolean | null;

/** What one setting does: two values, and something that comes out differently for them. */
interface Proof {
  values: [Value, Value];
  /** Settings that have to hold for the difference to show. */
  given?: object;
  effect: (settings: Features) => unknown;
}

/** A setting whose effect takes a worker to be seen: the suite that changes it and sees that. */
interface Elsewhere {
  suite: string;
  mentions?: string;
}

const status = async (method: string, path: string, options: CallOptions = {}): Promise<number> =>
  (await board.call(method, path, options)).status;

const started = { type: 'run.started', taskId: 'task_20260101_aaaaaa', agent: 'ant' };
const analytics = async (): Promise<number[]> => [
  await status('POST', '/api/telemetry/events', { body: started, key: agentKey }),
  await status('GET', '/api/telemetry/events'),
  await status('GET', '/api/feedback/analytics'),
  await status('GET', '/api/errors/stats'),
  await status('GET', '/api/drift/alerts'),
  await status('POST', '/api/drift/analyze', { body: { agent: 'ant' } }),
  await status('GET', '/api/cost-prediction/accuracy/stats'),
  (await board.call('GET', '/api/telemetry/status')).body.enabled as number,
];

const finish = async (fields: object, attempt?: object): Promise<[number, number]> => {
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a', ...fields } })).body as { id: string };
  if (attempt) {
    await board.api.context.board.update(id, () => ({ attempt }) as never, { actor: 'agent:ant' });
  }
  const finished = await status('PATCH', `/api/tasks/${id}`, { body: { status: 'done' } });
  return [finished, (await board.call('GET', `/api/ceremonies?taskId=${id}`)).body.length as number];
};
const failed = { id: 'attempt_ab12cd34', agent: 'ant', status: 'failed', result: 'failed' };

const asked = { runId: 'attempt_ab12cd34', continuationCount: 1, monthlySpendUsd: 3, prompt: 'Go on' };
const watch = async () => (await board.call('POST', '/api/watcher-policies/evaluate', { body: asked })).body.decision;
const watching = { watcher: { enabled: true, globalKillSwitch: false, defaultMode: 'auto' } };
const watcherNow = async () => (await board.api.context.settings.read()).features.watcher;
const partial = {
  status: 'partial' as const,
  terminalSource: 'process' as const,
  claims: { continuation: { provider: 'ant', kind: 'thread' as const, reference: 't' } },
};
const watcher = (values: [Value, Value]): Proof => ({ values, given: watching, effect: watch });

const request = (): AdmissionRequest =>
  sampleRequest(`attempt_${Math.random().toString(36).slice(2, 10).padEnd(8, '0')}`, { hostId: 'h' });
const policy: CapacityPolicy = {
  policy: 'global.runs',
  scope: 'global',
  scopeId: 'g',
  resource: 'runs',
  limit: 10,
  key: 'g',
};
const admission = (values: [Value, Value], effect: (settings: Features['admission']) => unknown): Proof => ({
  values,
  effect: (settings) => effect(settings.admission),
});
const fixed = sampleRequest('attempt_fixed000', { hostId: 'h' });
const ceiling = admission([null, 3], (settings) => policiesOf(settings, fixed));
const breaker = (values: [Value, Value], given: object = {}): Proof => ({
  values,
  given: { admission: { fanOutBreaker: given } },
  effect: ({ admission: { fanOutBreaker } }) =>
    breakerSignals(
      fanOutBreaker,
      { descendants: 20, depth: 5, activeReservations: 5, queuedDescendants: 5 },
      { policies: [policy], usage: { g: { runs: 8, processes: 0, memoryMb: 0 } }, requested: request().requested },
    ),
});
const budget = (values: [Value, Value]) =>
  admission(values, ({ treeBudget }) =>
    budgetUse(treeBudget, { inputTokens: 5, outputTokens: 5, cacheTokens: 0, totalTokens: 10, cost: 1 } as never),
  );
/** What is used of the budgets of each scope while each has used 60 and one run is at work. */
const spending = (values: [Value, Value], given: object = {}): Proof => ({
  values,
  given: { budget: { limits: { agent: { tokens: 100, costUsd: 100 } }, ...given } },
  effect: ({ budget: settings }) => {
    const time = { settings, at: Date.parse('2026-11-24T02:00:00.000Z') };
    const used = { spend: { tokens: 60, costUsd: 60 }, holds: 1 };
    return budgetScope.options.map((scope) => usesOf({ scope, scopeId: 'one' }, used, time));
  },
});
const entry = (id: string, fields: Partial<Candidate> = {}): Candidate => ({
  id,
  workspaceId: 'a',
  priority: 1,
  enqueuedAt: 0,
  requested: { runs: 1, processes: 0, memoryMb: 0 },
  policies: [],
  scopes: [],
  ...fields,
});
const priority = (values: [Value, Value]) =>
  admission(values, ({ queue: { scheduler } }) => effectivePriority(entry('a', { priority: 0 }), scheduler, 150_000));
const picks = (values: [Value, Value]) =>
  admission(values, ({ queue: { scheduler } }) => {
    const lines = ['a', 'b'].map((workspaceId) => {
      const entries = [1, 2, 3].map((nth) => entry(`${workspaceId}${nth}`, { workspaceId }));
      return { id: workspaceId, entries, isLast: true };
    });
    const plan = schedule(lines, { usage: {}, settings: scheduler, now: 0 }).next();
    return plan.done ? plan.value.picks.map(({ id }) => id) : [];
  });

/** The responses of three launches while there is capacity for one. */
const capacity = (values: [Value, Value]): Proof => ({
  values,
  given: { admission: { limits: { global: { runs: 1 } } } },
  effect: async () => {
    const requests = [request(), request(), request()];
    const decisions: string[] = [];
    for (const one of requests) {
      await control.trees.open(one);
      await control.requests.put(one);
      const decided = await decideCapacity(control, one);
      decisions.push('launch' in decided ? `${decided.decision} ${JSON.stringify(decided.launch)}` : decided.decision);
    }
    for (const { attemptId } of requests) {
      await control.queue.end(attemptId, { code: 'QUEUE_CANCELLED', reason: 'over', at: new Date().toISOString() });
      await control.reservations.release(attemptId, { reason: 'completed', evidence: 'done', now: new Date() });
    }
    return decisions.map((decision) => /^held|^queued|ADMISSION_[A-Z_]+/.exec(decision)?.[0]);
  },
});

const proofs: Record<string, Proof | Elsewhere> = {
  'toolServers.credentialScopes': { suite: 'test/e2e/integrations/tool-discovery.test.ts' },
  darkMode: {
    values: [false, true],
    effect: async () => (await board.call('GET', '/api/settings/features')).body.darkMode,
  },
  squadChat: {
    values: [true, false],
    effect: async () => [
      await status('POST', '/api/chat/squad', { body: { agent: 'ant', message: 'Hello' }, key: agentKey }),
      await status('GET', '/api/chat/squad'),
      await status('GET', '/api/chat/squad/search?q=Hello'),
    ],
  },
  analyticsEnabled: { values: [true, false], effect: analytics },
  'enforcement.ceremonyDesignReview': { values: ['warn', 'block'], effect: () => finish({}) },
  'enforcement.ceremonyFailureRetrospective': { values: ['warn', 'block'], effect: () => finish({}, failed) },
  'enforcement.workspaceTrust': {
    values: ['off', 'block'],
    effect: ({ enforcement: { workspaceTrust: mode } }) =>
      trustAtLaunch({ mode, inventory: inventoryOf([], ['AGENTS.md']), decision: undefined, agent: {} as never }),
  },
  'agents.autoCommitOnComplete': {
    values: [false, true],
    effect: ({ agents }) => commitPolicyOf({}, {}, agents.autoCommitOnComplete),
  },
  'agents.commitUncommitted': { suite: 'test/e2e/runs/completion.test.ts' },
  'agents.commitAuthor.name': { suite: 'test/e2e/runs/completion.test.ts', mentions: 'commitAuthor' },
  'agents.commitAuthor.email': { suite: 'test/e2e/runs/completion.test.ts', mentions: 'commitAuthor' },
  'agents.commitCoAuthor': { suite: 'test/e2e/runs/completion.test.ts' },
  'agents.requireReview': { suite: 'test/e2e/runs/reviews.test.ts' },
  'agents.reviewDelivery': { suite: 'test/e2e/pull-requests/accepted-reviews.test.ts' },
  'agents.timeoutMinutes': { suite: 'test/e2e/runs/timeout.test.ts', mentions: 'run-time' },
  'retention.archivedTaskDays': { suite: 'test/activities/retention/retention.test.ts' },
  'retention.runEventDays': { suite: 'test/activities/retention/retention.test.ts' },
  'retention.traceDays': { suite: 'test/activities/retention/retention.test.ts' },
  'tracing.enabled': { suite: 'test/e2e/runs/traces.test.ts', mentions: 'tracing: { enabled' },
  'retention.workflowRunDays': { suite: 'test/activities/retention/retention.test.ts' },
  'retention.spoolHours': { suite: 'test/activities/retention/retention.test.ts' },
  'watcher.enabled': watcher([true, false]),
  'watcher.globalKillSwitch': watcher([false, true]),
  'watcher.defaultMode': watcher(['auto', 'ask_always']),
  'watcher.continueRuns': {
    values: [true, false],
    given: watching,
    effect: async () => isContinuedByWatcher(await watcherNow(), partial),
  },
  'watcher.maxContinuationsPerRun': watcher([3, 1]),
  'watcher.spendCapUsd': watcher([5, 1]),
  'admission.enabled': admission([true, false], (settings) => policiesOf(settings, request()).length),
  'admission.leaseMs': { suite: 'test/worker/heartbeat.test.ts' },
  'admission.heartbeatMs': { suite: 'test/worker/heartbeat.test.ts' },
  'admission.retryAfterMs': admission([5_000, 9_000], (settings) => retryAfter(settings, 0)),
  'admission.request.runs': { suite: 'test/e2e/launch/admission.test.ts', mentions: 'request: {' },
  'admission.request.processes': { suite: 'test/e2e/launch/admission.test.ts', mentions: 'request: {' },
  'admission.request.memoryMb': { suite: 'test/e2e/launch/admission.test.ts', mentions: 'request: {' },
  ...Object.fromEntries(
    ['global', 'workspace', 'rootTask', 'provider', 'host'].flatMap((scope) =>
      ['runs', 'processes', 'memoryMb'].map((resource) => [`admission.limits.${scope}.${resource}`, ceiling]),
    ),
  ),
  'admission.fanOutBreaker.enabled': breaker([true, false], { maxDepth: 2 }),
  'admission.fanOutBreaker.maxDescendants': breaker([256, 3]),
  'admission.fanOutBreaker.maxDepth': breaker([16, 2]),
  'admission.fanOutBreaker.maxActiveReservations': breaker([64, 2]),
  'admission.fanOutBreaker.maxQueuedDescendants': breaker([64, 2]),
  'admission.fanOutBreaker.pressurePercent': breaker([95, 50]),
  'admission.fanOutBreaker.pressureMinDescendants': breaker([8, 100], { pressurePercent: 50 }),
  'admission.treeBudget.tokens': budget([null, 10]),
  'admission.treeBudget.costUsd': budget([null, 1]),
  'budget.enabled': spending([true, false]),
  'budget.warningThreshold': spending([80, 50], { reservePerRun: { tokens: 0, costUsd: 0 } }),
  'budget.timeZone': spending(['UTC', 'Asia/Tokyo']),
  'budget.reservePerRun.tokens': spending([0, 50]),
  'budget.reservePerRun.costUsd': spending([0, 50]),
  ...Object.fromEntries(
    budgetScope.options.flatMap((scope) =>
      ['tokens', 'costUsd'].map((resource) => [`budget.limits.${scope}.${resource}`, spending([null, 10])]),
    ),
  ),
  'admission.queue.enabled': capacity([true, false]),
  'admission.queue.globalLimit': capacity([10, 1]),
  'admission.queue.perWorkspaceLimit': capacity([10, 1]),
  'admission.queue.leaseMs': { suite: 'test/stores/admission/scheduler.ts' },
  'admission.queue.retryBackoffMs': { suite: 'test/stores/admission/scheduler.ts' },
  'admission.queue.maxRetries': { suite: 'test/stores/admission/scheduler.ts' },
  'admission.queue.scheduler.levels': priority([4, 2]),
  'admission.queue.scheduler.defaultPriority': admission([1, 3], ({ queue: { scheduler } }) =>
    queuePriority(undefined, scheduler.levels, scheduler.defaultPriority),
  ),
  'admission.queue.scheduler.agingMs': priority([60_000, 100_000]),
  'admission.queue.scheduler.maxPromotions': priority([3, 1]),
  'admission.queue.scheduler.workspaceBurst': picks([1, 3]),
  'admission.queue.scheduler.evaluationLimit': picks([32, 2]),
};

const leavesOf = (schema: z.ZodObject, path = ''): string[] =>
  Object.entries(schema.shape).flatMap(([name, field]) =>
    field instanceof z.ZodObject ? leavesOf(field, `${path}${name}.`) : [`${path}${name}`],
  );

const nested = (path: string, value: Value): object =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

describe('feature settings', () => {
  it('are all in the table of what they do', () => {
    expect(Object.keys(proofs).sort()).toEqual(leavesOf(features).sort());
  });

  it.each(Object.keys(proofs))('%s is obeyed', async (path) => {
    const proof = proofs[path]!;
    if ('suite' in proof) {
      const text = await readFile(join(__dirname, '../../..', proof.suite), 'utf8');
      expect(text).toContain(proof.mentions ?? path.split('.').at(-1));
      return;
    }
    const { settings } = board.api.context;
    const { features: before } = await settings.read();
    const patch = async (body: object) => {
      const patched = await board.call('PATCH', '/api/settings/features', { body });
      expect([patched.status, patched.body.details ?? null]).toEqual([200, null]);
      return patched.body as Features;
    };
    try {
      if (proof.given) {
        await patch(proof.given);
      }
      const effects = [];
      const [one, other] = proof.values;
      for (const value of [one, other, one]) {
        effects.push(await proof.effect(await patch(nested(path, value))));
      }
      expect(effects[0]).not.toEqual(effects[1]);
      expect(effects[2]).toEqual(effects[0]);
    } finally {
      await patch(before);
    }
  });

  it('reports which setting has turned a route off', async () => {
    const patch = (body: object) => board.call('PATCH', '/api/settings/features', { body });
    await patch({ squadChat: false });
    const refused = await board.call('GET', '/api/chat/squad');
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'FEATURE_DISABLED', details: { setting: 'squadChat' } },
    });
    expect((await board.call('GET', '/api/chat/squad', { key: null })).status).toBe(401);
    expect((await board.call('GET', '/api/telemetry/events')).status).toBe(200);
    await patch({ squadChat: true });
    expect((await board.call('GET', '/api/chat/squad')).status).toBe(200);
  });
});
