import type { RecordedTaskEnvelope } from '../contracts/run-contract';
import { claimDigest, compileCompletion, taskStatusAfter, type TerminalClaim } from './completion';

const envelope = (fields: Partial<RecordedTaskEnvelope> = {}): RecordedTaskEnvelope => ({
  schemaVersion: 'task-envelope/v1',
  taskId: 'task_20260101_aaaaaa',
  objective: { title: 'Do it', description: '', subtasks: [] },
  phase: 'implement',
  commitPolicy: 'allowed',
  workspace: {
    repository: 'r',
    path: '/w',
    branch: 'b',
    baseline: { headSha: 'a'.repeat(40), dirty: false, files: [] },
  },
  allowedSideEffects: [],
  expectedOutputs: [],
  digest: 'sha256:0',
  ...fields,
});

const claim = (fields: Partial<TerminalClaim> = {}): TerminalClaim => ({
  terminalSource: 'process',
  status: 'success',
  summary: 'done',
  claims: {},
  harness: { ended: 'exit', exitCode: 0 },
  ...fields,
});

const commit = { ended: 'exit' as const, commits: [{ sha: 'c'.repeat(40), subject: 'Work' }] };
const compile = (policy: Partial<RecordedTaskEnvelope>, claimed: Partial<TerminalClaim>) =>
  compileCompletion('attempt_aaaaaaaa', envelope(policy), claim(claimed), '2026-01-01T00:00:00.000Z');

test('a success whose evidence holds stays one', () => {
  expect(compile({}, {})).toMatchObject({ status: 'success', downgrades: [] });
  expect(compile({ commitPolicy: 'required' }, { harness: commit })).toMatchObject({ status: 'success' });
});

test.each([
  ['a forbidden commit', { commitPolicy: 'forbidden' as const }, { harness: commit }, 'commit-policy-violated'],
  ['a missing commit', { commitPolicy: 'required' as const }, {}, 'commit-missing'],
  [
    'a failed gate',
    {},
    { claims: { verification: [{ gateId: 'test', status: 'failed' as const }] } },
    'verification-failed',
  ],
  [
    'a missing commit output',
    { expectedOutputs: [{ id: 'c', kind: 'commit' as const, required: true }] },
    {},
    'output-missing',
  ],
  [
    'a missing artifact',
    { expectedOutputs: [{ id: 'a', kind: 'artifact' as const, required: true }] },
    {},
    'output-missing',
  ],
])('%s makes a claimed success partial', (_name, policy, claimed, code) => {
  expect(compile(policy, claimed)).toMatchObject({
    status: 'partial',
    claimedStatus: 'success',
    downgrades: [{ code }],
  });
});

test('nothing but success is downgraded', () => {
  const { status, downgrades } = compile({ commitPolicy: 'required' }, { status: 'blocked' });
  expect({ status, downgrades }).toEqual({ status: 'blocked', downgrades: [] });
});

test('the same claim has the same identity, whatever the harness saw', () => {
  const { claims, status, summary, terminalSource } = claim();
  const told = { terminalSource, status, summary, claims };
  expect(claimDigest({ ...told })).toBe(claimDigest({ claims, summary, status, terminalSource }));
  expect(claimDigest({ ...told, summary: 'other' })).not.toBe(claimDigest(told));
});

test('what a run leaves its task in', () => {
  const ends = ['success', 'blocked', 'failed', 'interrupted', 'partial'] as const;
  expect(ends.map(taskStatusAfter)).toEqual(['done', 'blocked', 'in-progress', 'in-progress', 'in-progress']);
});
