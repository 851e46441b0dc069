import { statusEffects } from './status-effects';

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
