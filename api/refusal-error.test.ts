import { refusalError } from './refusal-error';

describe('refusalError', () => {
  it('answers 404 for what is not there, and keeps code, message and details', () => {
    const refused = { code: 'WORKTREE_NOT_FOUND', message: 'The task has no worktree.', details: { taskId: 'task_1' } };
    expect(refusalError(refused)).toMatchObject({ ...refused, status: 404 });
  });

  it.each([
    ['VALIDATION_ERROR', 400],
    ['FORBIDDEN', 403],
  ])('returns a refusal for %s with %s', (code, status) => {
    expect(refusalError({ code, message: '', details: {} })).toMatchObject({ code, status });
  });

  it('answers 409 for any other refusal', () => {
    expect(refusalError({ code: 'RUN_ACTIVE', message: 'busy', details: {} })).toMatchObject({ status: 409 });
  });

  it('reads refusals that were recorded with a status of HTTP', () => {
    const recorded = { status: 'refused', code: 'AGENT_UNKNOWN', httpStatus: 409, message: '', details: {} } as const;
    expect(refusalError(recorded).status).toBe(404);
  });
});
