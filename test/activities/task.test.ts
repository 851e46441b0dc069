import { applyCompletion, applyStart } from '../../activities/task';
import type { CompletionResult } from '../../contracts/completion';
import { createLog } from '../../platform/log/log';
import type { AttemptRecord } from '../../stores/attempt-store';
import { actor, boardHarness, type BoardHarness } from '../stores/board-files/harness';

let harness: BoardHarness;
beforeEach(async () => {
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
  const deps = { board, log: createLog({ name: 'test', level: 'silent' }), now: () => new Date() };
  // Only these parts of the two records are shown on a task.
  const record = { _id: 'attempt_aaaaaaaa', taskId, agent: 'bee' } as AttemptRecord;
  const completion = {
    status: 'success',
    summary: 'Done.',
    completedAt: '2026-01-01T00:00:00.000Z',
    digest: `sha256:${'a'.repeat(64)}`,
  } as CompletionResult;

  await applyStart(deps, record);
  await applyStart(deps, record);
  const started = (await board.get(taskId))?.task;
  expect(started).toMatchObject({ status: 'in-progress', checkpoint: { step: 1, resumeCount: 1 } });
  expect(started).not.toHaveProperty('blockedReason');

  await applyCompletion(deps, record, completion, 0);
  const done = (await board.get(taskId))?.task;
  expect(done?.status).toBe('done');
  expect(done).not.toHaveProperty('checkpoint');
});
