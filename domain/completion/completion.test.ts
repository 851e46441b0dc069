import type { RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import { claimDigest, compileCompletion, redactClaim, taskStatusAfter, type TerminalClaim } from '.';

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
  compileCompletion('attempt_aaaaaaaa', {
    envelope: envelope(policy),
    claim: claim(claimed),
    completedAt: '2026-01-01T00:00:00.000Z',
  });

test('a success whose evidence holds stays one', () => {
  expect(compile({}, {})).toMatchObject({ status: 'success', downgrades: [] });
  expect(compile({ commitPolicy: 'required' }, { harness: { ...commit, branch: 'b' } })).toMatchObject({
    status: 'success',
  });
});

test.each([
  ['a forbidden commit', { commitPolicy: 'forbidden' as const }, { harness: commit }, 'commit-policy-violated'],
  ['another branch', {}, { harness: { ...commit, branch: 'other' } }, 'branch-changed'],
  ['a detached HEAD', {}, { harness: { ...commit, branch: null } }, 'branch-changed'],
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

describe('verification steps', () => {
  const step = { id: 'step_1', kind: 'verification-step' as const, description: 'Tests pass' };
  const gates = [
    { ...step, required: true as const },
    { ...step, id: 'step_2', description: 'Looks well' },
  ];
  const reports = (...statuses: ('passed' | 'failed' | 'skipped' | 'unknown')[]) => ({
    claims: { verification: statuses.map((status, index) => ({ gateId: `step_${index + 1}`, status })) },
  });

  test('that a run left out are named; the required ones make its success partial', () => {
    const completion = compile({ gates }, {});
    expect(completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      downgrades: [{ code: 'verification-unreported', message: expect.stringContaining('Tests pass (step_1)') }],
      findings: [{ code: 'verification-unreported', message: expect.stringContaining('Looks well (step_2)') }],
      unverified: [{ gateId: 'step_1', description: 'Tests pass' }],
    });
  });

  test.each(['skipped', 'unknown'] as const)('that are required and %s were not verified', (status) => {
    expect(compile({ gates }, reports(status, status)).downgrades).toMatchObject([{ code: 'verification-unreported' }]);
    expect(compile({ gates }, reports(status, status))).not.toHaveProperty('findings');
  });

  test('that were reported are no shortfall, and one that failed is its own', () => {
    expect(compile({ gates }, reports('passed', 'passed'))).toMatchObject({ status: 'success', downgrades: [] });
    expect(compile({ gates }, reports('failed', 'passed')).downgrades).toMatchObject([{ code: 'verification-failed' }]);
    expect(compile({ gates }, reports('passed', 'passed'))).not.toHaveProperty('unverified');
  });

  test('that nothing requires are only reported, and criteria of subtasks are none', () => {
    const criterion = { id: 's1.0', kind: 'acceptance-criterion' as const, description: 'It works' };
    expect(compile({ gates: [gates[1]!, criterion] }, {})).toMatchObject({ status: 'success', downgrades: [] });
    expect(compile({ gates: [criterion] }, {})).not.toHaveProperty('findings');
    expect(compile({ gates }, { status: 'failed' })).not.toHaveProperty('unverified');
  });
});

describe('an exit without a result', () => {
  const unreported = { ended: 'exit' as const, exitCode: 0, unreported: true as const };
  const changedFiles = [{ path: 'src/a.ts', status: 'added' as const }];

  test.each([
    ['with a commit', {}, { ...unreported, commits: commit.commits }],
    ['with a changed file', {}, { ...unreported, changedFiles }],
  ])('%s is a success', (_name, policy, harness) => {
    expect(compile(policy, { harness })).toMatchObject({ status: 'success', downgrades: [] });
  });

  test.each([
    ['without work', {}, { ...unreported, commits: [], changedFiles: [] }, 'result-missing'],
    ['without a worktree', { workspace: null }, unreported, 'result-missing'],
    [
      'with a commit that is forbidden',
      { commitPolicy: 'forbidden' as const },
      { ...unreported, ...commit },
      'commit-policy-violated',
    ],
    [
      'with nothing of a required text',
      { expectedOutputs: [{ id: 't', kind: 'text' as const, required: true }] },
      { ...unreported, changedFiles },
      'output-missing',
    ],
  ])('%s is partial, and no claim stated more', (_name, policy, harness, code) => {
    const completion = compile(policy, { harness });
    expect(completion).toMatchObject({ status: 'partial', downgrades: [{ code }] });
    expect(completion).not.toHaveProperty('claimedStatus');
  });
});

describe('a success without work', () => {
  const idle = { ended: 'exit' as const, commits: [], changedFiles: [] };
  const context = { type: 'code', priority: 'medium', project: null, sprint: null, plan: '' };

  test.each([
    ['an empty summary', { summary: ' ' }],
    ['no word in its session', { summary: 'The agent ended its turn.', harness: { ...idle, silent: true as const } }],
    [
      'a session that goes on',
      { summary: '', claims: { continuation: { provider: 'acp', kind: 'session', reference: 's' } } },
    ],
  ] as const)('and %s is partial for a task of code', (_name, claimed) => {
    const completion = compile({ context }, { harness: idle, ...claimed });
    expect(completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      downgrades: [{ code: 'result-empty' }],
    });
  });

  test.each([
    ['a summary', { context }, { harness: idle }],
    [
      'a claim',
      { context },
      { harness: idle, summary: '', claims: { evidence: [{ id: 'e', kind: 'other' as const }] } },
    ],
    ['a task of another type', { context: { ...context, type: 'research' } }, { harness: idle, summary: '' }],
    ['a worktree that was not inspected', { context }, { summary: '' }],
    [
      'work that was committed for it',
      { context },
      { harness: { ...idle, committed: { sha: 'c', subject: 's', files: 1 } }, summary: '' },
    ],
    ['a policy that expects nothing', { context, allowEmptyResult: true as const }, { harness: idle, summary: '' }],
    [
      'a policy that expects no result',
      { allowEmptyResult: true as const },
      { harness: { ...idle, unreported: true as const } },
    ],
  ])('stays one with %s', (_name, policy, claimed) => {
    expect(compile(policy, claimed)).toMatchObject({ status: 'success', downgrades: [] });
  });
});

test('nothing but success is downgraded', () => {
  const { status, downgrades } = compile({ commitPolicy: 'required' }, { status: 'blocked' });
  expect({ status, downgrades }).toEqual({ status: 'blocked', downgrades: [] });
});

test('the same claim has the same identity, whatever the harness saw', () => {
  const { claims, status, summary, terminalSource } = claim();
  const reported = { terminalSource, status, summary, claims };
  expect(claimDigest({ ...reported })).toBe(claimDigest({ claims, summary, status, terminalSource }));
  expect(claimDigest({ ...reported, summary: 'other' })).not.toBe(claimDigest(reported));
});

test('what a run leaves its task in', () => {
  const ends = ['success', 'blocked', 'failed', 'interrupted', 'partial'] as const;
  expect(ends.map(taskStatusAfter)).toEqual(['done', 'blocked', 'in-progress', 'in-progress', 'in-progress']);
});

describe('claims are compared with what the harness saw', () => {
  const harness = {
    ended: 'exit' as const,
    exitCode: 0,
    commits: [{ sha: 'c0ffee1'.padEnd(40, '0'), subject: 'Work' }],
    changedFiles: [
      { path: 'src/a.ts', status: 'added' as const },
      { path: 'new.md', previousPath: 'old.md', status: 'renamed' as const },
    ],
    claimedFiles: [
      { path: 'out/report.txt', bytes: 4, sha256: 'a'.repeat(64) },
      { path: 'gone.txt', bytes: null, sha256: null },
    ],
  };
  const evidence = (kind: 'commit' | 'file-change' | 'artifact' | 'verification', reference?: string) => ({
    id: 'e1',
    kind,
    ...(reference === undefined ? {} : { reference }),
  });
  const verdict = (claimed: ReturnType<typeof evidence>, seen: TerminalClaim['harness'] = harness) => {
    const { evidence: checked, downgrades } = compile({}, { claims: { evidence: [claimed] }, harness: seen });
    return [checked?.find(({ id }) => id === 'e1')?.verified, downgrades.map(({ code }) => code)];
  };

  test.each([
    ['a commit by its beginning', evidence('commit', 'c0ffee1'), true, []],
    ['a commit that is not there', evidence('commit', 'deadbeef'), false, ['evidence-refuted']],
    ['a commit that cannot be looked up', evidence('commit', 'the last one'), false, []],
    ['a changed file', evidence('file-change', './src/a.ts'), true, []],
    ['the former name of a renamed file', evidence('file-change', 'old.md'), true, []],
    ['a file that did not change', evidence('file-change', 'src/b.ts'), false, ['evidence-refuted']],
    ['an artifact', evidence('artifact', 'out/report.txt'), true, []],
    ['an artifact that is gone', evidence('artifact', 'gone.txt'), false, ['evidence-refuted']],
    ['what the harness cannot see', evidence('verification', 'tests'), false, []],
    ['evidence without a reference', evidence('commit'), false, []],
  ])('%s', (_name, claimed, verified, codes) => {
    expect(verdict(claimed)).toEqual([verified, codes]);
  });

  test('a claim of an agent elsewhere is neither verified nor refuted', () => {
    expect(verdict(evidence('commit', 'deadbeef'), { ended: 'callback' })).toEqual([false, []]);
  });

  test('a list that was cut refutes nothing', () => {
    expect(verdict(evidence('commit', 'deadbeef'), { ...harness, truncated: true })).toEqual([false, []]);
  });

  test('an artifact with another hash than reported is refuted', () => {
    const artifacts = [{ name: 'report', reference: 'out/report.txt', sha256: 'b'.repeat(64) }];
    expect(compile({}, { claims: { artifacts }, harness })).toMatchObject({
      status: 'partial',
      artifacts: [{ verified: false }],
      downgrades: [{ code: 'evidence-refuted' }],
    });
  });
});

describe('required outputs', () => {
  const output = (kind: 'text' | 'file' | 'artifact' | 'commit' | 'other') => ({
    expectedOutputs: [{ id: 'wanted', kind, required: true }],
  });
  const changed = { ended: 'exit' as const, changedFiles: [{ path: 'a', status: 'added' as const }] };
  const tied = { claims: { evidence: [{ id: 'e', kind: 'other' as const, requirementIds: ['wanted'] }] } };

  test.each([
    ['text', { summary: 'said' }, 'success'],
    ['text', { summary: ' ' }, 'partial'],
    ['file', { harness: changed }, 'success'],
    ['file', {}, 'partial'],
    ['commit', { harness: commit }, 'success'],
    ['commit', { harness: changed }, 'partial'],
    ['artifact', { claims: { artifacts: [{ name: 'x', reference: 'x' }] } }, 'success'],
    ['artifact', {}, 'partial'],
    ['other', tied, 'success'],
    ['other', { claims: { artifacts: [{ name: 'wanted', reference: 'x' }] } }, 'success'],
    ['other', { harness: commit }, 'partial'],
  ] as const)('a required %s after %j: %s', (kind, claimed, status) => {
    expect(compile(output(kind), claimed as Partial<TerminalClaim>).status).toBe(status);
  });

  test('an artifact that was refuted is none', () => {
    const harness = { ended: 'exit' as const, claimedFiles: [{ path: 'x', bytes: null, sha256: null }] };
    const { downgrades } = compile(output('artifact'), {
      claims: { artifacts: [{ id: 'wanted', name: 'x', reference: 'x' }] },
      harness,
    });
    expect(downgrades.map(({ code }) => code).sort()).toEqual(['evidence-refuted', 'output-missing']);
  });

  test('an output that is not required may be missing', () => {
    expect(compile({ expectedOutputs: [{ id: 'wanted', kind: 'file' }] }, {}).status).toBe('success');
  });
});

describe('side effects', () => {
  const policy = {
    context: { type: 'code', priority: 'medium', project: null, sprint: null, plan: '' },
    policy: { tools: { allowed: null, denied: [] }, mcpServers: null, permissions: null, sandboxPreset: null },
    gates: [],
  };
  const harness = {
    ended: 'exit' as const,
    changedFiles: [
      { path: 'src/a.ts', status: 'added' as const },
      { path: 'docs/b.md', status: 'modified' as const },
    ],
    commits: commit.commits,
  };

  test('within the policy are authorized', () => {
    const allowedSideEffects = [
      { kind: 'filesystem-write' as const, scope: '.' },
      { kind: 'git-commit' as const, scope: '*' },
    ];
    expect(compile({ ...policy, allowedSideEffects }, { harness })).toMatchObject({
      status: 'success',
      sideEffects: [
        { kind: 'filesystem-write', authorized: true, verified: true },
        { kind: 'git-commit', authorized: true, verified: true },
      ],
    });
  });

  test('outside the policy make a success partial, and are named', () => {
    const allowedSideEffects = [{ kind: 'filesystem-write' as const, scope: 'src' }];
    const result = compile({ ...policy, allowedSideEffects }, { harness });
    expect(result.status).toBe('partial');
    expect(result.downgrades.map(({ code }) => code)).toEqual(['commit-policy-violated', 'side-effect-unauthorized']);
    expect(result.sideEffects).toContainEqual(
      expect.objectContaining({ kind: 'filesystem-write', target: 'docs/b.md', authorized: false }),
    );
  });

  test('that a rename has at both ends count', () => {
    const allowedSideEffects = [{ kind: 'filesystem-write' as const, scope: 'src' }];
    const renamed = { path: 'src/a.ts', previousPath: 'docs/a.ts', status: 'renamed' as const };
    const { sideEffects } = compile(
      { ...policy, allowedSideEffects },
      { harness: { ended: 'exit', changedFiles: [renamed] } },
    );
    expect(sideEffects.filter(({ authorized }) => !authorized)).toHaveLength(1);
  });

  test('of artifacts are classified by where they go', () => {
    const artifacts = [
      { name: 'page', kind: 'url' as const, reference: 'https://example.org' },
      { name: 'log', reference: 'out.log' },
    ];
    const allowedSideEffects = [{ kind: 'artifact-write' as const, scope: '*' }];
    expect(compile({ ...policy, allowedSideEffects }, { claims: { artifacts } })).toMatchObject({
      status: 'partial',
      sideEffects: [
        { kind: 'external-write', authorized: false },
        { kind: 'artifact-write', authorized: true },
      ],
    });
  });
});

test('a claim that is kept holds no credential', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const kept = redactClaim(claim({ summary: `used ${token}`, claims: { blockers: [{ code: 'x', summary: token }] } }));
  expect(JSON.stringify(kept)).not.toContain(token);
  expect(kept.harness).toEqual({ ended: 'exit', exitCode: 0 });
});
