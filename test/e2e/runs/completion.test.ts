import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('as-told'),
    // Its command would confine it: it is not confined by its host.
    { ...scriptAgent('as-told'), type: 'as-told-elsewhere', hostEnforced: ['network.disable'] },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});

afterAll(() => stack.close());

/** Runs an agent that follows its instructions; returns the completion and the task. */
async function completed(reported: object, fields: object = {}) {
  const task = await stack.call.createTask({
    title: 'Told',
    description: JSON.stringify(reported),
    git: { repo: 'sample' },
    ...fields,
  });
  await stack.call.start(task.id, { agent: 'as-told' });
  const { attempt } = await stack.call.ended(task.id);
  return { completion: attempt.completion, task: await stack.call.ok('GET', `/api/tasks/${task.id}`) };
}

const result = (fields: object) => ({ status: 'success', summary: 'done', ...fields });
const codes = (completion: { downgrades: { code: string }[] }) => completion.downgrades.map(({ code }) => code);

test('claims that hold are verified against git and the worktree', async () => {
  const text = 'a report';
  const sha256 = createHash('sha256').update(text).digest('hex');
  const { completion, task } = await completed({
    files: { 'src/a.txt': 'a', 'out/report.txt': text },
    commit: 'Work',
    result: result({
      evidence: [{ id: 'file', kind: 'file-change', reference: 'src/a.txt' }],
      artifacts: [{ name: 'report', reference: 'out/report.txt', sha256 }],
      verification: [{ gateId: 'tests', status: 'passed' }],
      continuation: { provider: 'process', kind: 'session', reference: 's-1' },
    }),
  });
  expect(completion).toMatchObject({
    status: 'success',
    downgrades: [],
    evidence: expect.arrayContaining([
      expect.objectContaining({ id: 'file', source: 'provider', verified: true }),
      expect.objectContaining({ kind: 'commit', source: 'harness', verified: true }),
      expect.objectContaining({ kind: 'process-exit', source: 'harness' }),
    ]),
    artifacts: [{ name: 'report', verified: true }],
    verification: [{ gateId: 'tests', status: 'passed' }],
    continuation: { reference: 's-1' },
    phase: { phase: 'implement', evidence: 'legacy' },
    sideEffects: expect.arrayContaining([
      expect.objectContaining({ kind: 'git-commit', authorized: true, verified: true }),
      expect.objectContaining({ kind: 'artifact-write', target: 'out/report.txt', verified: true }),
    ]),
  });
  expect(task).toMatchObject({ status: 'done', attempt: { result: 'success', completionDigest: completion.digest } });
});

test('a run whose task waits for a blocking ceremony succeeds, and leaves the task blocked until it was held', async () => {
  const enforce = (ceremonyDesignReview: string) =>
    changeFeatures(stack.call, { enforcement: { ceremonyDesignReview } });
  await enforce('block');
  try {
    const { completion, task } = await completed({ files: { 'b.txt': 'b' }, commit: 'Work', result: result({}) });
    expect(completion).toMatchObject({ status: 'success' });
    expect(task).toMatchObject({
      status: 'blocked',
      blockedReason: { category: 'prerequisite', note: expect.stringContaining('design_review') },
      attempt: { result: 'success', status: 'complete', completionDigest: completion.digest },
    });
    const [ceremony] = await stack.call.ok('GET', `/api/ceremonies?taskId=${task.id}&status=pending`);
    const artifacts = [{ kind: 'decision-packet', body: 'As it is.' }];
    await stack.call.ok('POST', `/api/ceremonies/${ceremony.id}/complete`, { artifacts });
    const done = await stack.call.ok('PATCH', `/api/tasks/${task.id}`, { status: 'done' });
    expect(done).toMatchObject({ status: 'done' });
    expect(done).not.toHaveProperty('blockedReason');
  } finally {
    await enforce('off');
  }
});

test('an agent that lies about its work is found out', async () => {
  const { completion, task } = await completed({
    files: { 'src/a.txt': 'a' },
    links: { 'passwd.txt': '/etc/passwd' },
    result: result({
      evidence: [
        { id: 'commit', kind: 'commit', reference: 'deadbeefcafe' },
        { id: 'file', kind: 'file-change', reference: 'src/never.txt' },
      ],
      artifacts: [
        { name: 'nothing', reference: 'out/nothing.txt' },
        { name: 'elsewhere', reference: '/etc/passwd' },
        { name: 'linked', reference: 'passwd.txt' },
      ],
    }),
  });
  expect(completion).toMatchObject({ status: 'partial', claimedStatus: 'success' });
  expect(codes(completion)).toEqual(Array.from({ length: 5 }, () => 'evidence-refuted'));
  expect(completion.artifacts.every(({ verified }: { verified: boolean }) => !verified)).toBe(true);
  expect(completion.harness.claimedFiles.every(({ sha256 }: { sha256: string | null }) => sha256 === null)).toBe(true);
  expect(task).toMatchObject({ status: 'in-progress', attempt: { result: 'partial' } });
});

test('what the policy of the task does not allow makes a success partial, among however many files', async () => {
  const executionPolicy = { allowedSideEffects: [{ kind: 'filesystem-write', scope: '/src/../docs/**' }] };
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`docs/${n}.md`, 'x']));
  const reported = { files: { ...many, 'src/no.ts': 'x' }, commit: 'Both', result: result({}) };
  const { completion } = await completed(reported, { executionPolicy });
  // An absolute scope lies outside the worktree: it allows nothing.
  expect(codes(completion)).toContain('side-effect-unauthorized');

  const narrow = { allowedSideEffects: [{ kind: 'filesystem-write', scope: 'docs/**' }] };
  const second = await completed(reported, { executionPolicy: narrow });
  expect(codes(second.completion)).toEqual(['commit-policy-violated', 'side-effect-unauthorized']);
  expect(second.completion.sideEffects).toContainEqual(
    expect.objectContaining({ kind: 'filesystem-write', target: 'src/no.ts', authorized: false }),
  );
});

test('the effects of a run are held against the sandbox it was launched with', async () => {
  await stack.call.ok('POST', '/api/sandbox-policies', {
    id: 'docs-only',
    name: 'Docs only',
    enforcement: 'advisory',
    filesystem: { writePaths: ['docs'] },
  });
  const task = await stack.call.createTask({
    title: 'Told',
    description: JSON.stringify({ files: { 'docs/a.md': 'x', 'src/a.ts': 'x' }, result: result({}) }),
    git: { repo: 'sample' },
  });
  await stack.call.start(task.id, { agent: 'as-told-elsewhere', sandboxPresetId: 'docs-only' });
  const { attempt } = await stack.call.ended(task.id);
  expect(codes(attempt.completion)).toEqual(['side-effect-unauthorized']);
});

test.each([
  ['text', {}, { status: 'success', summary: '' }],
  ['file', {}, result({})],
  ['artifact', { files: { a: 'x' } }, result({})],
  ['commit', {}, result({})],
  ['other', { files: { a: 'x' }, commit: 'Work' }, result({})],
])('a required %s that is missing makes a success partial', async (kind, reported, claim) => {
  const executionPolicy = { expectedOutputs: [{ id: 'wanted', kind, required: true }], allowEmptyResult: true };
  const { completion } = await completed({ ...reported, result: claim }, { executionPolicy });
  expect(completion.status).toBe('partial');
  expect(codes(completion)).toEqual(['output-missing']);
});

describe('the callback of an agent elsewhere', () => {
  const launched = async (fields: object = {}) => {
    const task = await stack.call.createTask({ title: 'Far away', ...fields });
    const { attemptId } = await stack.call.start(task.id, { agent: 'elsewhere' });
    const send = (body: object) => stack.call.post(`/api/agents/${task.id}/complete`, { attemptId, ...body });
    return { task, attemptId, send };
  };

  test('takes the legacy body', async () => {
    const { task, send } = await launched();
    expect(await send({ success: false, summary: 'no' })).toMatchObject({ status: 200, body: { received: true } });
    const { attempt } = await stack.call.ended(task.id);
    expect(attempt.completion).toMatchObject({ status: 'failed', terminalSource: 'callback', summary: 'no' });
  });

  test('takes every claim, keeps it without credentials, and verifies none', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const { task, send } = await launched();
    const report = {
      status: 'success',
      summary: `pushed with ${token}`,
      evidence: [{ id: 'c', kind: 'commit', reference: 'deadbeef' }],
      artifacts: [{ name: 'page', kind: 'url', reference: 'https://example.org/x' }],
      verification: [{ gateId: 'tests', status: 'passed', evidenceIds: ['c'] }],
      blockers: [],
    };
    expect((await send(report)).status).toBe(200);
    expect((await send(report)).status).toBe(200);
    const { attempt } = await stack.call.ended(task.id);
    expect(attempt.completion).toMatchObject({
      status: 'success',
      summary: 'pushed with [REDACTED]',
      evidence: [
        { id: 'c', source: 'provider', verified: false },
        { kind: 'callback', source: 'harness', verified: true },
      ],
      sideEffects: [{ kind: 'external-write', target: 'https://example.org/x', verified: false }],
    });
    expect((await send({ ...report, summary: 'other' })).status).toBe(409);
  });

  test('the first of many reports counts, and all of the same agree', async () => {
    const { task, send } = await launched();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => send({ status: 'blocked', summary: `report ${index % 3}` })),
    );
    const { attempt } = await stack.call.ended(task.id);
    const winner = Number(attempt.completion.summary.split(' ')[1]);
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 12 }, (_, index) => (index % 3 === winner ? 200 : 409)),
    );
    expect(await stack.call.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'blocked' });
  });

  const many = (count: number, item: object) =>
    Array.from({ length: count }, (_, index) => ({ id: `${index}`, ...item }));
  test.each([
    ['summary', { summary: 'x'.repeat(20_001) }],
    ['error', { error: 'x'.repeat(20_001) }],
    ['blockers', { blockers: many(65, { code: 'c', summary: 's' }).map(({ id: _id, ...rest }) => rest) }],
    ['evidence', { evidence: many(129, { kind: 'other' }) }],
    ['artifacts', { artifacts: many(65, { name: 'n', reference: 'r' }) }],
    ['verification', { verification: many(257, {}).map(({ id }) => ({ gateId: id, status: 'passed' })) }],
    ['status', {}],
    ['terminalSource', { terminalSource: 'process' }],
  ])('%s beyond its limits is refused by name', async (path, fields) => {
    const { task, attemptId, send } = await launched();
    const body = path === 'status' ? { status: 'done' } : { status: 'success', ...fields };
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  });
});

describe('an agent elsewhere that has worked in the worktree', () => {
  async function reported(work: (path: string) => Promise<unknown>, claims: object, fields: object = {}) {
    const task = await stack.call.createTask({ title: 'Far', git: { repo: 'sample' }, ...fields });
    const { attemptId } = await stack.call.start(task.id, { agent: 'elsewhere' });
    const { path } = (await stack.call.status(task.id)).taskEnvelope.workspace;
    await work(path);
    const body = { attemptId, status: 'success', summary: 'done', ...claims };
    await stack.call.ok('POST', `/api/agents/${task.id}/complete`, body);
    const { attempt } = await stack.call.status(task.id);
    await stack.call.ok('POST', `/api/agents/${task.id}/complete`, body);
    return attempt.completion;
  }
  const commit = async (path: string) => {
    await writeFile(join(path, 'made.txt'), 'made');
    await git(path, 'add', '-A');
    await git(path, 'commit', '--quiet', '-m', 'Far work');
  };
  const claim = (reference: string) => ({ evidence: [{ id: 'claimed', kind: 'file-change', reference }] });

  test('is held against what git shows there', async () => {
    const completion = await reported(commit, claim('made.txt'));
    expect(completion).toMatchObject({
      status: 'success',
      terminalSource: 'callback',
      harness: {
        ended: 'callback',
        commits: [{ subject: 'Far work' }],
        changedFiles: [{ path: 'made.txt', status: 'added' }],
      },
      changedFiles: [{ path: 'made.txt', verified: true }],
    });
    expect(completion.evidence).toContainEqual(expect.objectContaining({ id: 'claimed', verified: true }));
  });

  test('does not pass with claims that are not so, nor with commits it may not make', async () => {
    expect(codes(await reported(commit, claim('never.txt')))).toEqual(['evidence-refuted']);
    const forbidden = { executionPolicy: { commitPolicy: 'forbidden' } };
    expect(codes(await reported(commit, claim('made.txt'), forbidden))).toEqual(['commit-policy-violated']);
    const scoped = { executionPolicy: { allowedSideEffects: [{ kind: 'filesystem-write', scope: 'docs/' }] } };
    const outside = await reported((path) => writeFile(join(path, 'made.txt'), 'made'), {}, scoped);
    expect(codes(outside)).toContain('side-effect-unauthorized');
  });

  test('is not held to a worktree that it did not use', async () => {
    const completion = await reported(() => Promise.resolve(), claim('made.txt'));
    expect(completion).toMatchObject({ status: 'success', downgrades: [] });
    expect(completion.evidence).toContainEqual(expect.objectContaining({ id: 'claimed', verified: false }));
  });
});

test('a required verification step that a run does not report is named and keeps its task from done', async () => {
  const { id, verificationSteps } = await (async () => {
    const reported = { files: { 'a.txt': 'a' }, result: result({}) };
    const task = await stack.call.createTask({
      title: 'Told',
      description: JSON.stringify(reported),
      git: { repo: 'sample' },
    });
    await stack.call.ok('POST', `/api/tasks/${task.id}/verification`, { description: 'Looks well' });
    return stack.call.ok('POST', `/api/tasks/${task.id}/verification`, { description: 'Tests pass', required: true });
  })();
  const [optional, required] = verificationSteps;
  await stack.call.start(id, { agent: 'as-told' });
  const { attempt } = await stack.call.ended(id);
  expect(codes(attempt.completion)).toEqual(['verification-unreported']);
  expect(attempt.completion).toMatchObject({
    status: 'partial',
    claimedStatus: 'success',
    unverified: [{ gateId: required.id, description: 'Tests pass' }],
    findings: [{ code: 'verification-unreported', message: expect.stringContaining(optional.id) }],
  });
  expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({
    status: 'blocked',
    blockedReason: { category: 'prerequisite', note: expect.stringContaining(required.id) },
  });
  const traces = await stack.call.ok('GET', `/api/governance/traces?kind=workflow-gate&taskId=${id}`);
  expect(traces).toMatchObject([{ outcome: 'blocked', matchedRules: [{ id: required.id }] }]);

  await stack.call.ok('PATCH', `/api/tasks/${id}/verification/${required.id}`, { checked: true });
  await stack.call.start(id, { agent: 'as-told' });
  expect((await stack.call.ended(id)).attempt.completion.status).toBe('success');
  expect(await stack.call.ok('GET', `/api/tasks/${id}`)).toMatchObject({ status: 'done' });
});

test('a run of code that changed and reported nothing is partial, unless the policy of its task expects that', async () => {
  const silent = { result: result({ summary: '' }) };
  const { completion, task } = await completed(silent);
  expect(completion).toMatchObject({ status: 'partial', downgrades: [{ code: 'result-empty' }] });
  expect(task).toMatchObject({ status: 'in-progress' });
  const expected = await completed(silent, { executionPolicy: { allowEmptyResult: true } });
  expect(expected.completion).toMatchObject({ status: 'success', downgrades: [] });
});

describe('work that an agent leaves uncommitted', () => {
  const left = { files: { 'left/new.txt': 'new', 'README.md': 'changed' }, result: result({ summary: 'Left it.' }) };
  const worktreeOf = (task: { id: string }) => stack.call.ok('GET', `/api/tasks/${task.id}/worktree`);
  const agents = (fields: object) => changeFeatures(stack.call, { agents: fields });

  test.each(['allowed', 'required'])('is committed at the end with the policy %s', async (commitPolicy) => {
    const { completion, task } = await completed(left, { executionPolicy: { commitPolicy } });
    const { path, evidence, branch } = await worktreeOf(task);
    const head = await git(path, 'rev-parse', 'HEAD');
    expect(completion).toMatchObject({
      status: 'success',
      downgrades: [],
      harness: { headSha: head, commits: [], committed: { sha: head, subject: 'Told', files: 2 } },
      changedFiles: expect.arrayContaining([expect.objectContaining({ path: 'left/new.txt', status: 'untracked' })]),
      evidence: expect.arrayContaining([expect.objectContaining({ id: 'harness:committed', reference: head })]),
    });
    expect(evidence).toMatchObject({ dirty: 0, untracked: 0, ahead: 1, branch });
    expect(await git(path, 'log', '-1', '--format=%an <%ae>%n%B')).toBe(
      `Runboard <runboard@localhost>\nTold\n\nLeft it.\n\nBoard-Task: ${task.id}\n` +
        `Board-Attempt: ${completion.attemptId}\nCo-authored-by: as-told <as-told@agents.localhost>`,
    );
  });

  test('has the author that is set, and no trailer when that is off', async () => {
    await agents({ commitAuthor: { name: 'Ann Other', email: 'ann@example.org' }, commitCoAuthor: false });
    try {
      const { path } = await worktreeOf((await completed(left)).task);
      const shown = await git(path, 'log', '-1', '--format=%an <%ae>%n%B');
      expect(shown).toContain('Ann Other <ann@example.org>');
      expect(shown).not.toContain('Co-authored-by');
    } finally {
      await agents({ commitAuthor: { name: 'Runboard', email: 'runboard@localhost' }, commitCoAuthor: true });
    }
  });

  test('is kept under a reference with the policy forbidden, and when commitUncommitted is off', async () => {
    const forbidden = await completed(left, { executionPolicy: { commitPolicy: 'forbidden' } });
    await agents({ commitUncommitted: false });
    let off;
    try {
      off = await completed(left);
    } finally {
      await agents({ commitUncommitted: true });
    }
    for (const [{ completion, task }, reason] of [
      [forbidden, /forbids commits/],
      [off, /commitUncommitted is off/],
    ] as const) {
      const preservedRef = `refs/board/results/${completion.attemptId}`;
      expect(completion).toMatchObject({
        status: 'success',
        harness: { uncommitted: { files: 2, reason: expect.stringMatching(reason) }, preservedRef },
      });
      expect(completion.harness).not.toHaveProperty('committed');
      const { path, evidence } = await worktreeOf(task);
      expect(evidence).toMatchObject({ dirty: 1, untracked: 1, ahead: 0 });
      expect(await git(path, 'show', `${preservedRef}:left/new.txt`)).toBe('new');
    }
  });

  test('of a run that failed stays as it is', async () => {
    const { completion, task } = await completed({ ...left, result: { status: 'failed', summary: 'No.' } });
    expect(completion).toMatchObject({ status: 'failed' });
    expect(completion.harness).not.toHaveProperty('committed');
    expect((await worktreeOf(task)).evidence).toMatchObject({ dirty: 1, untracked: 1, ahead: 0 });
  });
});
