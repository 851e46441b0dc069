import { createCompletionActivities, type CompletionDependencies, type FinishInput } from '../../activities/completion';
import type { LaunchOutcome, LaunchRefusal } from '../../contracts/launch';
import { createActiveRunStore } from '../../stores/active-run-store';
import { createAttemptStore, type AttemptRecord } from '../../stores/attempt-store';
import { createClaimStore } from '../../stores/claim-store';
import { createPhaseStore } from '../../stores/phase-store';
import { createFeedStore } from '../../stores/feed-store';
import { createRecoveryStore } from '../../stores/recovery-store';
import { createRunEventStore } from '../../stores/run-event-store';
import { createTelemetryStore } from '../../stores/telemetry-store';
import { createWorktreeStore } from '../../stores/worktree-store';
import { sampleRequest } from '../../runs/admission/sample-request';
import { actor, boardHarness, type BoardHarness } from '../stores/board-files/harness';
import { admissionFixture, type AdmissionFixture } from './admission-fixture';
import { Crash, crash } from './interleaving';
import { aClaim, anAttempt, at, aWorktree } from './records';

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
  const { db } = fixture;
  const feed = await createFeedStore(db);
  deps = {
    board,
    attempts: await createAttemptStore(db),
    activeRuns: await createActiveRunStore(db),
    admission: fixture.control,
    recoveries: await createRecoveryStore(db),
    claims: await createClaimStore(db),
    worktrees: await createWorktreeStore(db),
    telemetry: await createTelemetryStore(db),
    events: await createRunEventStore(db, feed),
    phases: await createPhaseStore(db),
    feed,
    audit: { record: async () => undefined },
    withdrawApprovals: async (attemptId: string) => void withdrawn.push(attemptId),
    messageProofs: { verify: () => undefined },
    log: fixture.control.log,
    now: () => now,
  } as unknown as CompletionDependencies;
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
  await fixture.control.reservations.reserve(sampleRequest(id, { taskId }), [], now, 60_000);
}

it('ends a run once: what is repeated finds what was done', async () => {
  await aRun({ claim: aClaim('done') });
  const first = await finish();
  expect(first).toMatchObject({ status: 'success' });
  const [shown, record] = [await task(), await deps.attempts.get(id)];
  expect(shown).toMatchObject({ status: 'done', attempt: { id, result: 'success' } });
  expect(record).toMatchObject({ state: 'ended' });
  expect([await holders(), await owner(), await deps.activeRuns.holder(taskId)]).toEqual([[], null, undefined]);

  now = new Date(at(9_000));
  expect(await finish({ ending: { by: 'lost', hostReclaimed: true } as FinishInput['ending'] })).toEqual(first);
  expect([await task(), await deps.attempts.get(id)]).toEqual([shown, record]);
  expect(await kinds()).toEqual(['run.completed']);
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
  await fixture.control.reservations.reserve(sampleRequest(next, { taskId }), [], now, 60_000);
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

it('says how it has ended only once everything about that is done', async () => {
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
  expect(await deps.attempts.get(id)).not.toHaveProperty('completion');
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
    await fixture.control.reservations.release(id, 'reconciled', 'gone', now);
    await expect(activities().announceStart({ attemptId: id })).rejects.toThrow('waits for capacity');
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
  const launch = { status: 'refused', code: 'X', message: 'no' } as unknown as LaunchRefusal;

  it('gives everything back and is refused, once', async () => {
    await aRun({ state: 'admitted' });
    await activities().abandon({ attemptId: id, launch });
    const refused = await deps.attempts.get(id);
    expect(refused).toMatchObject({ state: 'refused', launch: { code: 'X' } });
    expect([await holders(), await owner(), await deps.activeRuns.holder(taskId)]).toEqual([[], null, undefined]);
    expect(await kinds()).toEqual([]);
  });

  it('ends as failed when its caller was told that it waits', async () => {
    await aRun({ state: 'queued', launch: { status: 'queued' } as unknown as LaunchOutcome });
    await activities().abandon({ attemptId: id, launch });
    const ended = await deps.attempts.get(id);
    expect(ended).toMatchObject({ state: 'ended', completion: { status: 'failed', summary: 'no' } });
    await activities().abandon({ attemptId: id, launch: { ...launch, message: 'late' } });
    expect(await deps.attempts.get(id)).toEqual(ended);
    expect(await holders()).toEqual([]);
  });
});
