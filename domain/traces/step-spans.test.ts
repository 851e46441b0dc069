import { type StepRecords, stepSpans, type TracedAttempt } from './step-spans';

const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

const attempt = (fields: Partial<TracedAttempt> = {}): TracedAttempt => ({
  ...{ attemptId: 'attempt_ab12cd34', taskId: 'task_20260101_ab12cd', agent: 'ant', provider: 'process' },
  ...{ state: 'ended', retryNumber: 0, createdAt: at(0), startedAt: at(500), endedAt: at(2_500) },
  completion: { status: 'success', summary: 'done' },
  steps: { admitted: at(10), prepared: at(400), dispatched: at(450), running: at(500), ended: at(2_600) },
  ...fields,
});
const read = (one: TracedAttempt, records: StepRecords = {}) =>
  stepSpans(one, records).map(({ spanId, status, durationMs }) => [spanId, status, durationMs]);

describe('spans of steps', () => {
  it('follow each other from the launch to the record of the end, within that of the run', () => {
    expect(read(attempt())).toEqual([
      ['run', 'ok', 2_500],
      ['launch', 'ok', 10],
      ['prepare', 'ok', 390],
      ['dispatch', 'ok', 100],
      ['agent', 'ok', 2_000],
      ['completion', 'ok', 100],
    ]);
    const [root, ...parts] = stepSpans(attempt(), {});
    expect(root!.parentSpanId).toBeNull();
    expect(new Set(parts.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set(['run']));
  });

  it('have the wait in the queue and the worktree beside the contract', () => {
    const steps = { ...attempt().steps, queued: at(20) };
    const queued = { enqueuedAt: at(20), endedAt: at(120) };
    const worktree = [
      { at: at(-50), kind: 'create' as const, operationId: 'before', result: 'done' as const },
      { at: at(300), kind: 'create' as const, operationId: 'one', result: 'done' as const },
    ];
    expect(read(attempt({ steps }), { queued, worktree }).slice(1, 5)).toEqual([
      ['launch', 'ok', 20],
      ['queue', 'ok', 100],
      ['worktree', 'ok', 180],
      ['prepare', 'ok', 100],
    ]);
  });

  it('are open where the attempt is, and nothing follows', () => {
    const { completion: _completion, endedAt: _endedAt, startedAt: _startedAt, ...rest } = attempt();
    const waiting = { ...rest, state: 'queued' as const, steps: { admitted: at(10), queued: at(20) } };
    expect(read(waiting, { queued: { enqueuedAt: at(20) } })).toEqual([
      ['run', 'open', null],
      ['launch', 'ok', 20],
      ['queue', 'open', null],
    ]);
    const preparing = { ...rest, state: 'admitted' as const, steps: { admitted: at(10) } };
    expect(read(preparing)).toEqual([
      ['run', 'open', null],
      ['launch', 'ok', 10],
      ['prepare', 'open', null],
    ]);
  });

  it('show at which step an attempt ended without success, and a launch that was refused', () => {
    const { startedAt: _startedAt, ...rest } = attempt();
    const lost = {
      ...rest,
      completion: { status: 'failed' as const, summary: 'lost' },
      steps: { admitted: at(10), ended: at(2_600) },
    };
    expect(read(lost)).toEqual([
      ['run', 'error', 2_500],
      ['launch', 'ok', 10],
      ['prepare', 'error', 2_490],
      ['completion', 'ok', 100],
    ]);
    const { completion: _completion, ...none } = rest;
    const refused = { ...none, state: 'refused' as const, endedAt: at(30), steps: { refused: at(30) } };
    expect(read(refused)).toEqual([
      ['run', 'error', 30],
      ['launch', 'error', 30],
    ]);
  });

  it('end with what follows a failure', () => {
    const recovery = {
      ...{ action: 'retry' as const, state: 'launched' as const, failureClass: 'rate-limit' as const },
      ...{ createdAt: at(2_500), notBefore: at(7_500), nextAttemptId: 'attempt_next1234' },
    };
    expect(stepSpans(attempt(), { recovery }).at(-1)).toMatchObject({
      ...{ spanId: 'recovery', name: 'retry', status: 'ok', durationMs: 5_000 },
      attributes: { failureClass: 'rate-limit', nextAttemptId: 'attempt_next1234' },
    });
  });
});
