import type { CompletionResult } from '../../contracts/runs/completion';
import { continuationAttemptId, isContinuedByWatcher } from './watched-end';

const on = { enabled: true, globalKillSwitch: false, continueRuns: true };
const continuation = { provider: 'ant', kind: 'thread' as const, reference: 't' };
const ended = (status: CompletionResult['status'], fields: Partial<CompletionResult> = {}) => ({
  status,
  terminalSource: 'process' as const,
  claims: { continuation },
  ...fields,
});

describe('runs that the watcher continues', () => {
  it.each([
    ['partial', true],
    ['interrupted', true],
    ['failed', true],
    ['success', false],
    ['blocked', false],
  ] as const)('that ended as %s: %s', (status, expected) => {
    expect(isContinuedByWatcher(on, ended(status))).toBe(expected);
  });

  it.each([{ enabled: false }, { globalKillSwitch: true }, { continueRuns: false }])('are none with %j', (fields) => {
    expect(isContinuedByWatcher({ ...on, ...fields }, ended('partial'))).toBe(false);
  });

  it('have a session, and were not stopped by a person', () => {
    expect(isContinuedByWatcher(on, ended('partial', { claims: {} }))).toBe(false);
    expect(isContinuedByWatcher(on, ended('interrupted', { terminalSource: 'operator-interruption' }))).toBe(false);
  });

  it('are continued by a run of one id', () => {
    expect(continuationAttemptId('attempt_a')).toMatch(/^attempt_[0-9a-f]{12}$/);
    expect(continuationAttemptId('attempt_a')).toBe(continuationAttemptId('attempt_a'));
    expect(continuationAttemptId('attempt_a')).not.toBe(continuationAttemptId('attempt_b'));
  });
});
