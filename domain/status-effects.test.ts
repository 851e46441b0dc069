import { statusEffects, statusTimes } from './status-effects';

const checkpoint = { id: 'state_1', step: 1, resumeCount: 1 };

describe('status effects', () => {
  it('takes the reason away when a task leaves blocked', () => {
    expect(statusEffects('todo', { status: 'blocked' })).toEqual({ blockedReason: undefined });
    expect(Object.keys(statusEffects('done', { status: 'blocked' }))).toContain('blockedReason');
    expect(statusEffects('blocked', { status: 'blocked' })).toEqual({});
  });

  it('resumes from the checkpoint once, when work begins', () => {
    expect(statusEffects('in-progress', { status: 'todo', checkpoint })).toEqual({
      checkpoint: { ...checkpoint, resumeCount: 2 },
    });
    expect(statusEffects('in-progress', { status: 'in-progress', checkpoint })).toEqual({});
    expect(statusEffects('in-progress', { status: 'todo' })).toEqual({});
  });

  it('clears the checkpoint when the task is done', () => {
    const effects = statusEffects('done', { status: 'in-progress', checkpoint });
    expect(effects).toHaveProperty('checkpoint', undefined);
    expect(statusEffects('blocked', { status: 'in-progress', checkpoint })).toEqual({});
  });
});

describe('times of the status', () => {
  const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];

  it('has the first start, whatever follows', () => {
    expect(statusTimes({ status: 'todo' }, 'in-progress', first)).toEqual({ startedAt: first, completedAt: undefined });
    const before = { status: 'blocked', startedAt: first } as const;
    expect(statusTimes(before, 'in-progress', second)).toEqual({ startedAt: first, completedAt: undefined });
    expect(statusTimes(undefined, 'in-progress', first).startedAt).toBe(first);
  });

  it('has the end while the task is done, and not after it was reopened', () => {
    const done = statusTimes({ status: 'in-progress', startedAt: first }, 'done', second);
    expect(done).toEqual({ startedAt: first, completedAt: second });
    expect(statusTimes({ status: 'done', ...done }, 'done', '2026-01-03T00:00:00.000Z')).toEqual(done);
    expect(statusTimes({ status: 'done', ...done }, 'todo', '2026-01-03T00:00:00.000Z').completedAt).toBeUndefined();
    expect(statusTimes(undefined, 'done', first)).toEqual({ startedAt: undefined, completedAt: first });
  });
});
