import {
  type CompletionDependencies,
  createCompletionActivities,
  type FinishInput,
} from '../../activities/agent-run/completion/activities';
import type { Refusal } from '../../contracts/refusal';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { sampleRequest } from '../../domain/admission/sample-request';
import { MessageProofError } from '../../platform/crypto/message-proof';
import { type AttemptRecord } from '../../stores/runs/attempt-store';
import { actor, type BoardHarness, boardHarness } from '../stores/board-files/harness';
import { aClaim, anAttempt, at, aWorktree } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture } from './admission-fixture';
import { completionDependencies } from './completion-fixture';
import { Crash, crash } from './interleaving';

const [id, next] = ['attempt_fence000001', 'attempt_fence000002'];
let fixture: AdmissionFixture;
let harness: BoardHarness;
let deps: CompletionDependencies;
let taskId: string;
let withdrawn: string[];
let now = new Date(at(0));

beforeEach(async () => {
  now = new Date(at(0));
  fixture = await admissionFixture(() => now);
  harness = await boardHarness();
  const board = await harness.open();
  ({ id: taskId } = await board.create({ title: 'a' }, { actor }));
  withdrawn = [];
  deps = await completionDependencies(fixture, { board, withdrawn, now: () => now });
});
afterEach(async () => {
  expect(fixture.db.isThrough).toBe(true);
  await harness.close();
  await fixture.close();
});

const activities = () => createCompletionActivities(deps);
const plan = { nextAttemptId: next, maxRetries: 1, retryBackoffMs: 1_000 };
const finish = (fields: Partial<FinishInput> = {}) =>
  activities().finish({ attemptId: id, ending: { by: 'agent' }, ...plan, ...fields });
const task = async () => (await deps.board.get(taskId))!.task;
const holders = () => fixture.control.reservations.holders();
const owner = async () => (await deps.worktrees.get(taskId))?.lease.ownerAttemptId;
const kinds = async () => (await deps.events.read(id, 0, 100)).map(({ kind }) => kind);

/** A run in its task, its worktree and its reservation. */
async function aRun(fields: Partial<AttemptRecord> = {}): Promise<void> {
  await deps.attempts.create(anAttempt(id, { taskId, state: 'running', startedAt: at(0), ...fields }));
  await deps.activeRuns.take(taskId, id);
  const worktree = aWorktree({ _id: taskId, taskId });
  await deps.worktrees.insert({ ...worktree, lease: { ...worktree.lease, ownerAttemptId: id } });
  await fixture.control.requests.put(sampleRequest(id, { taskId }));
  await fixture.control.reservations.reserve(sampleRequest(id, { taskId }), [], { now, leaseMs: 60_000 });
}

it('ends a run once: what is repeated finds what was done', async () => {
  await aRun({ claim: aClaim('done') });
  let counted = 0;
  const { attempts } = deps;
  const recordUsage: typeof attempts.recordUsage = (...usage) => {
    counted += 1;
    return attempts.recordUsage(...usage);
  };
  deps.attempts = { ...attempts, recordUsage };
  const first = await finish();
  expect(first).toStrictEqual({ status: 'success', endedAt: at(0) });
  const [shown, record] = [await task(), await deps.attempts.get(id)];
  expect(shown).toMatchObject({ status: 'done', attempt: { id, result: 'success' } });
  expect(record).toMatchObject({ state: 'ended' });
  expect([await holders(), await owner(), await deps.activeRuns.holder(taskId)]).toEqual([[], null, undefined]);

  now = new Date(at(9_000));
  expect(await finish({ ending: { by: 'lost', hostReclaimed: true } as FinishInput['ending'] })).toEqual(first);
  expect([await task(), await deps.attempts.get(id)]).toEqual([shown, record]);
  expect(await kinds()).toEqual(['run.completed']);
  expect(counted).toBe(1);
});

it('ends with the completion that was first, when another try stores one at that moment', async () => {
  await aRun({ claim: aClaim('done') });
  const early = { ...(await completionOfAnother()) };
  fixture.db.before('attempts', 'findOneAndUpdate', () => deps.attempts.complete(id, early));
  expect(await finish()).toMatchObject({ status: 'failed', endedAt: early.completedAt });
  expect((await deps.attempts.get(id))?.completion).toEqual(early);
  expect(await task()).toMatchObject({ attempt: { result: 'failed' } });
});

async function completionOfAnother() {
  const other = 'attempt_fence000009';
  await deps.attempts.create(anAttempt(other, { taskId: 'task_20260101_other', claim: aClaim('no', 'failed') }));
  await activities().finish({
    attemptId: other,
    ending: { by: 'agent' },
    ...plan,
    nextAttemptId: 'attempt_fence000010',
  });
  return (await deps.attempts.get(other))!.completion!;
}

it('touches nothing of the attempt after it, however late it is repeated', async () => {
  await aRun({ reclaimed: { at: at(1) } });
  const lost = { ending: { by: 'lost', reason: 'The worker is gone.', hostReclaimed: true } } as Partial<FinishInput>;
  expect(await finish(lost)).toMatchObject({ retry: { attemptId: next } });
  expect([await owner(), await deps.activeRuns.holder(taskId)]).toEqual([next, next]);
  await deps.attempts.create(anAttempt(next, { taskId, state: 'running', startedAt: at(1) }));
  await fixture.control.reservations.reserve(sampleRequest(next, { taskId }), [], { now, leaseMs: 60_000 });
  await activities().announceStart({ attemptId: next });
  const shown = await task();
  expect(shown).toMatchObject({ status: 'in-progress', attempt: { id: next } });

  await finish(lost);
  expect(await task()).toEqual(shown);
  expect([await owner(), await deps.activeRuns.holder(taskId), await holders()]).toEqual([next, next, [next]]);
});

it.each([
  ['the completion was stored', 'attempts', 'findOneAndUpdate'],
  ['the capacity was released', 'admission-reservations', 'findOneAndUpdate'],
  ['the worktree was given back', 'worktrees', 'findOneAndUpdate'],
  ['the task was given back', 'active-runs', 'deleteMany'],
] as const)('is brought to its end by the next try when one dies after %s', async (_, collection, method) => {
  await aRun({ claim: aClaim('done') });
  fixture.db.after(collection, method, crash);
  await expect(finish()).rejects.toThrow(Crash);
  expect(await finish()).toMatchObject({ status: 'success' });
  expect([await holders(), await owner(), await deps.activeRuns.holder(taskId)]).toEqual([[], null, undefined]);
  expect(await task()).toMatchObject({ status: 'done' });
  expect(await deps.attempts.get(id)).toMatchObject({ state: 'ended' });
});

it('reports how it has ended only once everything about that is done', async () => {
  await aRun({ claim: aClaim('done') });
  expect(await activities().endOf({ attemptId: id })).toBeNull();
  fixture.db.after('active-runs', 'deleteMany', crash);
  await expect(finish()).rejects.toThrow(Crash);
  expect(await activities().endOf({ attemptId: id })).toBeNull();
  await finish();
  expect(await activities().endOf({ attemptId: id })).toMatchObject({ status: 'success' });
});

it('does not end without a claim, and not with one that is missing', async () => {
  await aRun();
  await expect(finish()).rejects.toThrow('without a recorded claim');
  const ending = { by: 'callback', claimDigest: 'sha256:none' } as FinishInput['ending'];
  await expect(finish({ ending })).rejects.toThrow('missing from the stores');
  await expect(finish({ attemptId: next })).rejects.toThrow('missing from the stores');
  expect(await deps.attempts.get(id)).not.toHaveProperty('completion');
});

it('reports of a launch that was refused when that was, whatever is kept of it', async () => {
  await aRun({ state: 'refused', endedAt: at(7) });
  expect(await activities().endOf({ attemptId: id })).toEqual({ attemptId: id, status: 'refused', endedAt: at(7) });
  await deps.attempts.create(anAttempt('attempt_fence000003', { taskId, state: 'ended' }));
  now = new Date(at(9));
  expect(await activities().endOf({ attemptId: 'attempt_fence000003' })).toMatchObject({ endedAt: at(9) });
});

describe('the end of a run', () => {
  const completed = async () => (await deps.attempts.get(id))!.completion!;
  const kept = { preservedRef: 'refs/board/attempts/1' };
  const exited = { ended: 'exit' as const, exitCode: 0 };

  it.each([
    ['its own, when its agent was through before its time was up', 'exit', 'success', undefined],
    ['that of a run out of time, when its agent was stopped for that', 'stopped', 'failed', '90 s'],
    ['that of a run out of time, when its host saw that first', 'timeout', 'failed', '3 min'],
  ] as const)('is %s', async (_, ended, status, limit) => {
    const manifest = { resources: { timeoutMs: 180_000 } } as unknown as AttemptRecord['runLaunchManifest'];
    await aRun({ claim: { ...aClaim('done'), harness: { ended } }, runLaunchManifest: manifest! });
    expect(await finish({ ending: { by: 'timeout', afterMs: 90_000 } })).toMatchObject({ status });
    const { harness, summary } = await completed();
    expect(harness.ended).toBe(limit === undefined ? 'exit' : 'timeout');
    if (limit !== undefined) {
      expect(summary).toContain(`longer than ${limit} and`);
    }
  });

  it('keeps the limit of the host also when the run reports that the agent has ended', async () => {
    await aRun({ claim: { ...aClaim('done'), harness: { ended: 'timeout' } } });
    expect(await finish()).toMatchObject({ status: 'failed' });
    expect((await completed()).summary).toContain('longer than it may and');
  });

  it.each([
    ['process', 'process'],
    ['acp', 'stream'],
  ] as const)('is one out of time also without a claim, of an agent by %s', async (provider, terminalSource) => {
    await aRun({ provider, reclaimed: { at: at(1), ...kept } });
    await finish({ ending: { by: 'timeout', afterMs: 120_000 } });
    expect(await completed()).toMatchObject({ terminalSource, harness: { ended: 'timeout', ...kept } });
    expect((await completed()).summary).toContain('longer than 2 min and');
  });

  it('is what its agent claimed, whichever stop was requested meanwhile', async () => {
    await aRun({ claim: aClaim('done') });
    await finish({ ending: { by: 'stop', actor: 'user:ada' } });
    expect(await completed()).toMatchObject({ status: 'success', harness: exited });
  });

  it('is the reported one with what its host saw', async () => {
    await aRun({ provider: 'remote-callback', observed: { headSha: 'f'.repeat(40) } });
    await deps.claims.put(id, 'sha256:told', { ...aClaim('told'), terminalSource: 'callback' });
    await finish({ ending: { by: 'callback', claimDigest: 'sha256:told' } });
    expect(await completed()).toMatchObject({ harness: { headSha: 'f'.repeat(40) } });
  });

  it('names who stopped it only where that is proven', async () => {
    await aRun();
    await finish({ ending: { by: 'stop', actor: 'user:ada' } });
    expect((await completed()).summary).toBe('Stopped by user:ada.');
  });

  it('is the one by an operator when nothing proves who stopped it', async () => {
    await aRun();
    deps.messageProofs.verify = () => {
      throw new MessageProofError('missing');
    };
    await finish({ ending: { by: 'stop', actor: 'user:eve' } });
    expect((await completed()).summary).toBe('Stopped by operator:temporal.');
  });

  it('waits for proofs that cannot be read', async () => {
    await aRun();
    deps.messageProofs.verify = () => {
      throw new Error('no key');
    };
    await expect(finish({ ending: { by: 'stop', actor: 'user:ada' } })).rejects.toThrow('no key');
    expect(await deps.attempts.get(id)).not.toHaveProperty('completion');
  });

  it.each([
    ['completed', { claim: aClaim('done') }, { by: 'agent' }],
    ['failed', { claim: aClaim('no', 'failed') }, { by: 'agent' }],
    ['interrupted', {}, { by: 'stop', actor: 'user:ada' }],
    ['cancelled', { state: 'queued' }, { by: 'stop', actor: 'user:ada' }],
    ['start-failed', { state: 'queued' }, { by: 'lost', reason: 'gone', hostReclaimed: true }],
  ] as [string, Partial<AttemptRecord>, FinishInput['ending']][])(
    'gives its capacity back as %s',
    async (reason, fields, ending) => {
      await aRun(fields);
      await finish({ ending });
      expect(await fixture.control.reservations.get(id)).toMatchObject({ state: 'released', release: { reason } });
    },
  );

  it('ends its place in the queue with the reason of who asked for that, and wakes the entry behind it', async () => {
    await aRun({ claim: aClaim('done') });
    const { queue } = fixture.control;
    const waiting = (attemptId: string) =>
      queue.enqueue({ ...sampleRequest(attemptId), enqueuedAt: at(0), limitingKey: null, limitingPolicies: [] });
    await waiting(id);
    await queue.cancel(id, { keyHash: 'k', reason: 'enough', actor: 'ada', at: at(1) });
    await finish();
    expect(await queue.get(id)).toMatchObject({ outcome: { code: 'QUEUE_CANCELLED', reason: 'enough' } });
    expect(fixture.woken).toEqual([]);
    await waiting('attempt_fence000009');
    await finish();
    expect(fixture.woken).toEqual(['scheduler']);
  });

  it('is judged by what was done in which phase, where the phase changed', async () => {
    const sequence = (n: number) => ({ sequence: n, operationId: `${n}`, at: at(n * 10) });
    const looks = [{ createdAt: at(5), headSha: 'b'.repeat(40), changes: [], truncated: false }];
    const changed = { history: [sequence(1)] };
    const commits = [{ sha: 'b'.repeat(40), subject: 'early' }];
    deps.checkpoints = { list: async () => looks } as unknown as CompletionDependencies['checkpoints'];
    const envelope = { workspace: { baseline: { headSha: 'a'.repeat(40) } } };
    const spansOf = async (phases: object | undefined, taskEnvelope: object | undefined, attemptId: string) => {
      deps.phases = { get: async () => phases } as unknown as CompletionDependencies['phases'];
      const harness = { ...exited, headSha: 'b'.repeat(40), commits };
      const fields = { taskId: `${taskId}-${attemptId}`, claim: { ...aClaim('done'), harness }, taskEnvelope };
      await deps.attempts.create(anAttempt(attemptId, fields as unknown as Partial<AttemptRecord>));
      await activities().finish({ attemptId, ending: { by: 'agent' }, ...plan });
      return (await deps.attempts.get(attemptId))!.completion!.harness.phaseSpans;
    };
    expect(await spansOf(changed, envelope, 'attempt_fence000011')).toMatchObject([{ fromSequence: 0, commits }]);
    expect(await spansOf({ history: [] }, envelope, 'attempt_fence000012')).toBeUndefined();
    expect(await spansOf(undefined, envelope, 'attempt_fence000013')).toBeUndefined();
    expect(await spansOf(changed, {}, 'attempt_fence000014')).toBeUndefined();
    looks.length = 0;
    expect(await spansOf(changed, envelope, 'attempt_fence000015')).toBeUndefined();
  });
});

describe('a start', () => {
  it('is not shown of a run that has ended or is unknown', async () => {
    await aRun({ claim: aClaim('done') });
    await finish();
    const shown = await task();
    expect(await activities().announceStart({ attemptId: id })).toBeUndefined();
    expect(await activities().announceStart({ attemptId: 'attempt_fence000009' })).toBeUndefined();
    expect(await task()).toEqual(shown);
  });

  const remote = { provider: 'remote-callback' as const, state: 'prepared' as const };

  it('dispatches an agent elsewhere once', async () => {
    await aRun(remote);
    await activities().announceStart({ attemptId: id });
    const started = await deps.attempts.get(id);
    expect(started).toMatchObject({ state: 'running', startedAt: at(0) });
    now = new Date(at(5_000));
    await activities().announceStart({ attemptId: id });
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'running', startedAt: at(0) });
    expect(await kinds()).toEqual(['run.started']);
  });

  it('dispatches none of which another try was first', async () => {
    await aRun(remote);
    fixture.db.after('admission-reservations', 'findOneAndUpdate', () => deps.attempts.dispatch(id));
    await activities().announceStart({ attemptId: id });
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'dispatched' });
    expect(await kinds()).toEqual([]);
  });

  it('dispatches none without capacity, and waits for that', async () => {
    await aRun(remote);
    await fixture.control.reservations.release(id, { reason: 'reconciled', evidence: 'gone', now });
    await expect(activities().announceStart({ attemptId: id })).rejects.toThrow('waits for capacity');
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'prepared' });
  });

  it('waits for no capacity once its agent was dispatched', async () => {
    await aRun({ ...remote, state: 'running' });
    await fixture.control.reservations.release(id, { reason: 'reconciled', evidence: 'gone', now });
    await activities().announceStart({ attemptId: id });
    expect(await task()).toMatchObject({ status: 'in-progress', attempt: { id } });
  });

  it('is tried again as what it is when the stores fail', async () => {
    await aRun(remote);
    fixture.db.before('admission-reservations', 'findOneAndUpdate', crash);
    await expect(activities().announceStart({ attemptId: id })).rejects.toThrow(Crash);
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'prepared' });
  });

  it('dispatches none of a cancelled tree', async () => {
    await aRun(remote);
    await fixture.control.trees.open(sampleRequest(id, { taskId }));
    const note = { action: 'cancel' as const, actor: 'a', reason: 'r', at: at(1), keyHash: null };
    await fixture.control.trees.cancel(id, note);
    await activities().announceStart({ attemptId: id });
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'prepared' });
  });

  it('dispatches no agent of ours', async () => {
    await aRun({ state: 'prepared' });
    await activities().announceStart({ attemptId: id });
    expect(await deps.attempts.get(id)).toMatchObject({ state: 'prepared' });
  });
});

describe('a launch that is refused after its admission', () => {
  const launch = { status: 'refused', code: 'X', message: 'no' } as unknown as Refusal;

  it('gives everything back and is refused, once', async () => {
    await aRun({ state: 'admitted' });
    await activities().abandon({ attemptId: id, launch });
    const refused = await deps.attempts.get(id);
    expect(refused).toMatchObject({ state: 'refused', launch: { code: 'X' } });
    expect([await holders(), await owner(), await deps.activeRuns.holder(taskId)]).toEqual([[], null, undefined]);
    expect(await kinds()).toEqual([]);
  });

  it('ends as failed when its caller received that it waits', async () => {
    await aRun({ state: 'queued', launch: { status: 'queued' } as unknown as LaunchOutcome });
    await activities().abandon({ attemptId: id, launch });
    const ended = await deps.attempts.get(id);
    expect(ended).toMatchObject({ state: 'ended', completion: { status: 'failed', summary: 'no' } });
    await activities().abandon({ attemptId: id, launch: { ...launch, message: 'late' } });
    expect(await deps.attempts.get(id)).toEqual(ended);
    expect(await holders()).toEqual([]);
  });
});
