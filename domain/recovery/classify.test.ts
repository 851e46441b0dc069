import type { CompletionResult } from '../../contracts/runs/completion';
import { classifyFailure, isRetryable, needsOperator, remainingSideEffects } from './classify';

const completion = (fields: Partial<CompletionResult>): CompletionResult => ({
  schemaVersion: 'completion-result/v1',
  attemptId: 'attempt_ab12cd34',
  idempotencyKey: 'k',
  completedAt: '2026-01-01T00:00:00.000Z',
  terminalSource: 'process',
  status: 'failed',
  downgrades: [],
  summary: '',
  claims: {},
  harness: { ended: 'exit' },
  sideEffects: [],
  digest: `sha256:${'0'.repeat(64)}`,
  ...fields,
});
const blocked = (code: string) => ({ claims: { blockers: [{ code, summary: 'x' }] } });

describe('failure classification', () => {
  test.each<[string, Partial<CompletionResult>, string | undefined]>([
    ['a success', { status: 'success' }, undefined],
    ['a task that waits for people', { status: 'blocked' }, undefined],
    ['a stop', { status: 'interrupted', terminalSource: 'operator-interruption' }, undefined],
    ['a lost worker', { status: 'interrupted', harness: { ended: 'lost' } }, 'transient-transport'],
    ['a run that took too long', { harness: { ended: 'timeout' } }, 'timeout'],
    ['an agent that could not be started', { harness: { ended: 'spawn-failed' } }, 'provider-unavailable'],
    ['a rate limit', blocked('rate_limited'), 'rate-limit'],
    ['an overloaded provider', blocked('model-overloaded'), 'provider-unavailable'],
    ['a request that cannot be answered', blocked('invalid-request'), 'invalid-request'],
    ['a refusal', blocked('permission-denied'), 'policy-block'],
    ['a missing login', blocked('authentication-required'), 'invalid-request'],
    ['a model that the agent does not have', blocked('model-not-offered'), 'invalid-request'],
    ['a lost connection', blocked('ECONNRESET'), 'transient-transport'],
    [
      'a commit that was forbidden',
      { status: 'partial', downgrades: [{ code: 'commit-policy-violated', message: '' }] },
      'policy-block',
    ],
    [
      'a gate that failed',
      { status: 'partial', claims: { verification: [{ gateId: 'tests', status: 'failed' }] } },
      'verification-failure',
    ],
    [
      'a gate that passed',
      { status: 'partial', claims: { verification: [{ gateId: 'tests', status: 'passed' }] } },
      'task-failure',
    ],
    ['an interruption without a cause', { status: 'interrupted' }, 'unknown'],
    ['anything else', {}, 'task-failure'],
  ])('%s', (_what, fields, expected) => {
    expect(classifyFailure(completion(fields))).toBe(expected);
  });

  test('a failure that could be retried, but has left something behind, is for a person', () => {
    const changedFiles = [{ path: 'a', status: 'modified' as const }];
    expect(classifyFailure(completion({ harness: { ended: 'timeout', changedFiles } }))).toBe('partial-side-effect');
    const commits = [{ sha: 'a'.repeat(40), subject: 'half' }];
    expect(classifyFailure(completion({ harness: { ended: 'timeout', commits } }))).toBe('partial-side-effect');
    expect(
      classifyFailure(
        completion({
          ...blocked('rate-limit'),
          sideEffects: [{ kind: 'network-egress', description: 'called a server', authorized: true }],
        }),
      ),
    ).toBe('partial-side-effect');
  });

  test('a failure that is not retried keeps its class, whatever it has left behind', () => {
    const changedFiles = [{ path: 'a', status: 'modified' as const }];
    const denied = completion({ ...blocked('permission-denied'), harness: { ended: 'exit', changedFiles } });
    expect(classifyFailure(denied)).toBe('policy-block');
  });

  test('what a lost run did is undone by its host, and keeps nothing from a retry', () => {
    const changedFiles = [{ path: 'a', status: 'modified' as const }];
    const lost = completion({ status: 'interrupted', harness: { ended: 'lost', changedFiles } });
    expect(remainingSideEffects(lost)).toEqual([]);
    expect(classifyFailure(lost)).toBe('transient-transport');
  });

  test('no class is both retried and handed to a person', () => {
    const classes = [
      'timeout',
      'rate-limit',
      'policy-block',
      'partial-side-effect',
      'task-failure',
      'unknown',
    ] as const;
    for (const each of classes) {
      expect(isRetryable(each) && needsOperator(each)).toBe(false);
    }
  });
});
