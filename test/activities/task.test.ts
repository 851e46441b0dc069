import { applyCompletion, applyStart } from '../../activities/agent-run/completion/task';
import type { TraceInput } from '../../contracts/governance/trace';
import type { CompletionResult } from '../../contracts/runs/completion';
import { createLog } from '../../platform/log/log';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { actor, type BoardHarness, boardHarness } from '../stores/board-files/harness';

let harness: BoardHarness;
/** What was decided about the end of a run, by the key that is recorded once. */
let traced: Map<string, TraceInput>;
/** The one attempt of these tests has the task. */
const activeRuns = { holder: () => Promise.resolve('attempt_aaaaaaaa') };
const traces = {
  record: (trace: TraceInput) => Promise.resolve(void traced.set(trace.dedupeKey ?? '', trace)).then(() => 'trace_1'),
};
beforeEach(async () => {
  traced = new Map();
  harness = await boardHarness();
});
afterEach(() => harness.close());

it('a run resumes from the checkpoint of its task once, and clears it when it succeeds', async () => {
  const board = await harness.open();
  const { id: taskId } = await board.create({ title: 'a' }, { actor });
  const reason = { category: 'other' as const };
  await board.update(
    taskId,
    () => ({ status: 'blocked', blockedReason: reason, checkpoint: { id: 'state_1', step: 1, resumeCount: 0 } }),
    { actor },
  );
  const deps = { board, activeRuns, log: createLog({ name: 'test', level: 'silent' }), now: () => new Date(), traces };
  // Only these parts of the two records are shown on a task.
  const record = { _id: 'attempt_aaaaaaaa', taskId, agent: 'bee' } as AttemptRecord;
  const completion = {
    status: 'success',
    summary: 'Done.',
    completedAt: '2026-01-01T00:00:00.000Z',
    digest: `sha256:${'a'.repeat(64)}`,
    harness: { ended: 'exit' },
  } as CompletionResult;

  await applyStart(deps, record);
  await applyStart(deps, record);
  const started = (await board.get(taskId))?.task;
  expect(started).toMatchObject({ status: 'in-progress', checkpoint: { step: 1, resumeCount: 1 } });
  expect(started).not.toHaveProperty('blockedReason');

  await applyCompletion(deps, record, { completion, actualCost: 0 });
  const done = (await board.get(taskId))?.task;
  expect(done?.status).toBe('done');
  expect(done).not.toHaveProperty('checkpoint');
});

describe('end of a run', () => {
  const record = { _id: 'attempt_aaaaaaaa', agent: 'bee', taskStatus: 'todo' } as AttemptRecord;
  const completion = (status: CompletionResult['status'], ended: CompletionResult['harness']['ended'] = 'exit') =>
    ({
      status,
      summary: 'Half of it.',
      downgrades: [] as CompletionResult['downgrades'],
      completedAt: '2026-01-01T00:00:00.000Z',
      digest: `sha256:${'a'.repeat(64)}`,
      harness: { ended },
    }) as CompletionResult;
  const aTask = async () => {
    const board = await harness.open();
    const { id: taskId } = await board.create({ title: 'a', assignee: 'jo' }, { actor });
    const deps = {
      board,
      activeRuns,
      log: createLog({ name: 'test', level: 'silent' }),
      now: () => new Date(),
      traces,
    };
    return { board, deps, taskId, attempt: { ...record, taskId } };
  };

  it('is shown with a summary and a cause that end between characters', async () => {
    const { board, deps, taskId, attempt } = await aTask();
    await applyStart(deps, attempt);
    const summary = `x${'\u{1f600}'.repeat(2_000)}`;
    await applyCompletion(deps, attempt, { completion: { ...completion('failed'), summary }, actualCost: 0 });
    const shown = (await board.get(taskId))?.task.attempt;
    expect(shown?.summary).toBe(`x${'\u{1f600}'.repeat(999)}`);
    expect(shown?.cause).toMatch(/^x\u{1f600}+…$/u);
  });

  it.each([
    ['done', 'failed'],
    ['blocked', 'success'],
    ['todo', 'success'],
  ] as const)('leaves %s as a person has set it, with a note that it was %s', async (status, result) => {
    const { board, deps, taskId, attempt } = await aTask();
    await applyStart(deps, attempt);
    await board.update(taskId, () => ({ status }), { actor });
    for (let time = 1; time <= 2; time += 1) {
      await applyCompletion(deps, attempt, { completion: completion(result), actualCost: 2 });
    }
    const task = (await board.get(taskId))?.task;
    expect(task).toMatchObject({ status, actualCost: 2, attempt: { id: attempt._id, result } });
    expect(task?.comments).toMatchObject([
      { text: expect.stringContaining(`ended as ${result}. The task stays ${status}`) },
    ]);
  });

  it('leaves what was set before the run could show its start', async () => {
    const { board, deps, taskId, attempt } = await aTask();
    await board.update(taskId, () => ({ status: 'done' }), { actor });
    await applyStart(deps, attempt);
    expect((await board.get(taskId))?.task).toMatchObject({ status: 'done', attempt: { status: 'running' } });
    await applyCompletion(deps, attempt, { completion: completion('partial'), actualCost: 0 });
    expect((await board.get(taskId))?.task).toMatchObject({ status: 'done', attempt: { result: 'partial' } });
  });

  it('has no note where both agree, and sets what no one else has changed', async () => {
    const { board, deps, taskId, attempt } = await aTask();
    await applyStart(deps, attempt);
    await board.update(taskId, () => ({ status: 'done' }), { actor });
    await applyCompletion(deps, attempt, { completion: completion('success'), actualCost: 0 });
    expect((await board.get(taskId))?.task).not.toHaveProperty('comments');
    const other = await aTask();
    await applyCompletion(other.deps, other.attempt, { completion: completion('blocked'), actualCost: 0 });
    expect((await other.board.get(other.taskId))?.task).toMatchObject({ status: 'blocked' });
  });

  it('changes nothing for a queued launch that was cancelled', async () => {
    const { board, deps, taskId, attempt } = await aTask();
    const before = (await board.get(taskId))?.task;
    await applyCompletion(deps, attempt, { completion: completion('interrupted', 'not-dispatched'), actualCost: 0 });
    expect((await board.get(taskId))?.task).toEqual(before);
  });

  describe('that left required verification steps out', () => {
    const unverified = [{ gateId: 'step_1', description: 'Tests pass' }];
    const partial = (codes: string[]) => ({
      ...completion('partial'),
      claimedStatus: 'success' as const,
      downgrades: codes.map((code) => ({ code, message: code })),
      unverified,
    });
    const withStep = async (checked: boolean) => {
      const found = await aTask();
      const step = { id: 'step_1', description: 'Tests pass', checked, required: true };
      await found.board.update(found.taskId, () => ({ verificationSteps: [step] }), { actor });
      await applyStart(found.deps, found.attempt);
      return found;
    };

    it('blocks its task with the reason and one trace, however often it is applied', async () => {
      const { board, deps, taskId, attempt } = await withStep(false);
      for (let time = 1; time <= 2; time += 1) {
        await applyCompletion(deps, attempt, { completion: partial(['verification-unreported']), actualCost: 0 });
      }
      expect((await board.get(taskId))?.task).toMatchObject({
        status: 'blocked',
        blockedReason: { category: 'prerequisite', note: expect.stringContaining('Tests pass (step_1)') },
      });
      expect([...traced.values()]).toMatchObject([
        { kind: 'workflow-gate', outcome: 'blocked', subject: { taskId }, evaluatedRules: [{ id: 'step_1' }] },
      ]);
    });

    it('has its trace although the first try died before it, unless a person has set the task since', async () => {
      const died = { traces: { record: () => Promise.reject(new Error('died')) } };
      const ended = partial(['verification-unreported']);
      const { deps, attempt } = await withStep(false);
      await expect(
        applyCompletion({ ...deps, ...died }, attempt, { completion: ended, actualCost: 0 }),
      ).rejects.toThrow('died');
      await applyCompletion(deps, attempt, { completion: ended, actualCost: 0 });
      expect(traced.size).toBe(1);

      traced.clear();
      const other = await withStep(false);
      await expect(
        applyCompletion({ ...other.deps, ...died }, other.attempt, { completion: ended, actualCost: 0 }),
      ).rejects.toThrow('died');
      await other.board.update(other.taskId, () => ({ status: 'done' }), { actor });
      await applyCompletion(other.deps, other.attempt, { completion: ended, actualCost: 0 });
      expect(traced.size).toBe(0);
    });

    it('is done where they were checked meanwhile', async () => {
      const { board, deps, taskId, attempt } = await withStep(true);
      await applyCompletion(deps, attempt, { completion: partial(['verification-unreported']), actualCost: 0 });
      expect((await board.get(taskId))?.task.status).toBe('done');
      expect(traced.size).toBe(0);
    });

    it('continues where there are other shortfalls, and leaves what a person has set', async () => {
      const { board, deps, taskId, attempt } = await withStep(false);
      await applyCompletion(deps, attempt, {
        completion: partial(['verification-unreported', 'output-missing']),
        actualCost: 0,
      });
      expect((await board.get(taskId))?.task.status).toBe('in-progress');
      const other = await withStep(false);
      await other.board.update(other.taskId, () => ({ status: 'done' }), { actor });
      await applyCompletion(other.deps, other.attempt, {
        completion: partial(['verification-unreported']),
        actualCost: 0,
      });
      expect((await other.board.get(other.taskId))?.task.status).toBe('done');
      expect(traced.size).toBe(0);
    });
  });
});
