import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Caller, scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRemoteRepository, type RemoteRepository } from '../../support/git/remote-repository';
import { git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const adminKey = 'the-key-of-the-administrator-of-the-test';

describe('review of a result', () => {
  let stack: Stack;
  let shop: RemoteRepository;
  let agent: Caller;

  beforeAll(async () => {
    stack = await startStack({
      BOARD_AUTH_ENABLED: 'true',
      BOARD_ADMIN_KEY: adminKey,
      BOARD_API_KEYS: 'bot:the-key-of-an-agent-of-the-test:agent',
    });
    stack.call = new Caller(stack.url, { 'x-api-key': adminKey });
    agent = new Caller(stack.url, { 'x-api-key': 'the-key-of-an-agent-of-the-test' });
    shop = await aRemoteRepository(stack.dir);
    await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
    await stack.call.configureAgents([
      scriptAgent('as-told'),
      scriptAgent('rememberer'),
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(() => stack.close());

  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/review${rest}`;
  const taskOf = (taskId: string) => stack.call.ok('GET', `/api/tasks/${taskId}`);
  const features = (fields: object) => changeFeatures(stack.call, fields);
  const mainLog = () => git(shop.remote, 'log', '--merges', '--format=%s %P', 'main');

  /** A task whose run has left a new file, uncommitted, and waits for its review. */
  async function aResult(file: string, fields: object = {}, agentType = 'as-told') {
    const { id: taskId } = await stack.call.createTask({
      title: 'Told',
      description: JSON.stringify({ files: { [file]: `${file}\n` }, result: { status: 'success', summary: 'Done.' } }),
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
      ...fields,
    });
    await stack.call.start(taskId, { agent: agentType });
    const { attempt } = await stack.call.ended(taskId);
    return { taskId, attemptId: attempt.id as string, completion: attempt.completion };
  }

  test('a success waits for its review; accepting merges it and completes the task', async () => {
    const { taskId, attemptId, completion } = await aResult('accepted.txt');
    expect(completion).toMatchObject({ status: 'success' });
    expect(await taskOf(taskId)).toMatchObject({
      status: 'in-progress',
      attempt: { result: 'success' },
      review: { state: 'pending', attemptId },
    });
    const { tasks } = await stack.call.ok('GET', '/api/tasks?review=pending');
    expect(tasks.map(({ id }: { id: string }) => id)).toContain(taskId);

    const accepted = await stack.call.ok('POST', url(taskId, '/accept'), { attemptId, summary: 'Fine.' });
    const merged = await git(shop.remote, 'rev-parse', 'main');
    expect(accepted).toMatchObject({
      taskId,
      required: true,
      review: { state: 'accepted', decision: 'approved', attemptId, decidedBy: 'service:admin', summary: 'Fine.' },
      decisions: [{ outcome: 'accepted', attemptId, by: 'service:admin', delivery: 'merge', mergedSha: merged }],
    });
    expect(await taskOf(taskId)).toMatchObject({ status: 'done' });
    expect(await git(shop.remote, 'show', 'main:accepted.txt')).toBe('accepted.txt');
    const audit = await stack.call.ok('GET', `/api/audit?resource=${taskId}&action=review.accepted`);
    expect(audit.entries ?? audit).toMatchObject([
      { actor: 'service:admin', details: { attemptId, mergedSha: merged } },
    ]);

    expect(await stack.call.post(url(taskId, '/accept'), { attemptId })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_CLOSED', details: { review: { state: 'accepted' } } },
    });
    const after = await stack.call.ok('GET', '/api/tasks?review=pending');
    expect(after.tasks.map(({ id }: { id: string }) => id)).not.toContain(taskId);
  });

  test('nothing else completes the task while the review is open, and no agent takes the review off it', async () => {
    const { taskId, attemptId } = await aResult('guarded.txt');
    for (const caller of [stack.call, agent]) {
      expect(await caller.send('PATCH', `/api/tasks/${taskId}`, { status: 'done' })).toMatchObject({
        status: 409,
        body: { code: 'REVIEW_OPEN', details: { review: { state: 'pending', attemptId } } },
      });
    }
    const bulk = await stack.call.ok('POST', '/api/tasks/bulk-update', { taskIds: [taskId], status: 'done' });
    expect(bulk).toMatchObject({ updated: [], failed: [{ id: taskId }] });
    expect(await agent.send('PATCH', `/api/tasks/${taskId}`, { review: { state: 'accepted' } })).toMatchObject({
      status: 400,
    });
    for (const executionPolicy of [{}, null]) {
      expect(await agent.send('PATCH', `/api/tasks/${taskId}`, { executionPolicy })).toMatchObject({ status: 403 });
    }
    expect(await agent.post(url(taskId, '/accept'), { attemptId })).toMatchObject({ status: 403 });
    expect(await taskOf(taskId)).toMatchObject({ status: 'in-progress', review: { state: 'pending' } });
  });

  test('a task whose run is active is not completed past its review', async () => {
    const { id: taskId } = await stack.call.createTask({
      title: 'Long',
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    const { attemptId } = await stack.call.start(taskId, { agent: 'long-bee' });
    expect(await agent.send('PATCH', `/api/tasks/${taskId}`, { status: 'done' })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_AWAITED', details: { attempt: { id: attemptId } } },
    });
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    expect(await stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'done' })).toMatchObject({ status: 'done' });
  });

  test('the setting requires reviews of every task', async () => {
    await features({ agents: { requireReview: true } });
    try {
      const { taskId } = await aResult('setting.txt', { executionPolicy: undefined });
      expect(await stack.call.ok('GET', url(taskId))).toMatchObject({ required: true, review: { state: 'pending' } });
    } finally {
      await features({ agents: { requireReview: false } });
    }
  });

  test('a conflict returns the review with the reason, and nothing is merged', async () => {
    const { taskId, attemptId } = await aResult('conflict.txt');
    await shop.othersPush('conflict.txt', 'theirs\n');
    const before = await mainLog();
    const refused = await stack.call.post(url(taskId, '/accept'), { attemptId });
    expect(refused).toMatchObject({ status: 409, body: { code: 'WORKTREE_MERGE_CONFLICT' } });
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({
      review: { state: 'pending', attemptId, problem: { code: 'WORKTREE_MERGE_CONFLICT' } },
      decisions: [{ outcome: 'returned', problem: { code: 'WORKTREE_MERGE_CONFLICT' } }],
    });
    expect(await mainLog()).toBe(before);
    expect(await taskOf(taskId)).toMatchObject({ status: 'in-progress' });

    const accepted = await stack.call.ok('POST', url(taskId, '/accept'), { attemptId, delivery: 'none' });
    expect(accepted).toMatchObject({ review: { state: 'accepted', delivery: 'none' } });
    expect(accepted.review).not.toHaveProperty('problem');
    expect(await mainLog()).toBe(before);
    expect(await taskOf(taskId)).toMatchObject({ status: 'done' });
  });

  test('a task that may not be done is not merged', async () => {
    await features({ enforcement: { ceremonyDesignReview: 'block' } });
    try {
      const { taskId, attemptId } = await aResult('ceremony.txt');
      const before = await mainLog();
      expect(await stack.call.post(url(taskId, '/accept'), { attemptId })).toMatchObject({
        status: 409,
        body: { code: 'CEREMONY_REQUIRED', details: { ceremonies: [{ kind: 'design_review' }] } },
      });
      expect(await mainLog()).toBe(before);
      const [ceremony] = await stack.call.ok('GET', `/api/ceremonies?taskId=${taskId}&status=pending`);
      await stack.call.ok('POST', `/api/ceremonies/${ceremony.id}/complete`, {
        artifacts: [{ kind: 'decision-packet', body: 'As it is.' }],
      });
      await stack.call.ok('POST', url(taskId, '/accept'), { attemptId });
      expect(await taskOf(taskId)).toMatchObject({ status: 'done' });
    } finally {
      await features({ enforcement: { ceremonyDesignReview: 'off' } });
    }
  });

  test('what has changed since is refused with its state', async () => {
    const { taskId, attemptId } = await aResult('moved.txt');
    const accept = (body: object = {}) => stack.call.post(url(taskId, '/accept'), { attemptId, ...body });
    expect(await accept({ attemptId: 'attempt_000000000000' })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_OTHER_ATTEMPT', details: { lastAttemptId: attemptId } },
    });
    expect(await accept({ expectedHead: '0'.repeat(40) })).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_HEAD_MOVED' },
    });
    await stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'todo' });
    expect(await accept()).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_TASK_MOVED', details: { status: 'todo' } },
    });
    await stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'in-progress' });
    await stack.call.ok('DELETE', `/api/tasks/${taskId}/worktree?force=true&reason=test`);
    expect(await accept()).toMatchObject({ status: 409, body: { code: 'REVIEW_WITHOUT_WORKTREE' } });

    const next = await stack.call.start(taskId, { agent: 'long-bee' });
    expect(await accept()).toMatchObject({ status: 409, body: { code: 'REVIEW_OTHER_ATTEMPT' } });
    expect((await taskOf(taskId)).review).toMatchObject({ state: 'superseded', followUpAttemptId: next.attemptId });
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId: next.attemptId });

    const { id: fresh } = await stack.call.createTask({ title: 'Fresh' });
    expect(await stack.call.post(url(fresh, '/accept'), { attemptId })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_NOT_OPEN' },
    });
    expect(await stack.call.post(url('task_20260101_absent', '/accept'), { attemptId })).toMatchObject({ status: 404 });
  });

  test('of several acceptances at once one is carried out, and its repetition under its key is the same one', async () => {
    const { taskId, attemptId } = await aResult('once.txt');
    const key = { 'Idempotency-Key': `accept-${taskId}` };
    const accept = (headers?: Record<string, string>) =>
      stack.call.post(url(taskId, '/accept'), { attemptId }, headers);
    const answers = await Promise.all([accept(key), accept(), accept()]);
    const codes = answers.map(({ status, body }) => (status === 200 ? 'accepted' : body.code)).sort();
    expect(codes).toEqual(['REVIEW_CLOSED', 'REVIEW_CLOSED', 'accepted']);
    expect((await mainLog()).split('\n').filter((line) => line.includes(taskId))).toHaveLength(1);
    const { decisions } = await stack.call.ok('GET', url(taskId));
    expect(decisions).toMatchObject([{ outcome: 'accepted' }]);
  });

  test('an acceptance whose workflow is lost is taken over by the next one', async () => {
    const { taskId, attemptId } = await aResult('lost.txt');
    const active = join(stack.dir, 'data', 'tasks', 'active');
    const file = join(
      active,
      (await readdir(active)).find((name) => name.startsWith(taskId))!,
    );
    const text = await readFile(file, 'utf8');
    const lost = 'state: accepting\n  decisionId: review_lost\n  decidedBy: service:gone';
    await writeFile(file, text.replace('state: pending', lost));
    expect(await stack.call.post(`/api/agents/${taskId}/start`, { agent: 'as-told' })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_ACCEPTING' },
    });
    expect(await stack.call.ok('POST', url(taskId, '/accept'), { attemptId })).toMatchObject({
      review: { state: 'accepted', decidedBy: 'service:admin' },
      decisions: [{ outcome: 'accepted', by: 'service:admin' }],
    });
    expect(await taskOf(taskId)).toMatchObject({ status: 'done' });
  });

  test('a result is sent back into the session of its agent, with a message and the open comments', async () => {
    const { taskId, attemptId } = await aResult('back.txt', {}, 'rememberer');
    const comment = await stack.call.ok('POST', `/api/diff/${taskId}/comments`, {
      path: 'back.txt',
      line: 1,
      body: 'Say why.',
    });
    const body = { attemptId, message: 'Nearly there.' };
    const key = { 'X-Idempotency-Key': `back-${taskId}` };
    const sent = await stack.call.post(url(taskId, '/send-back'), body, key);
    expect(sent).toMatchObject({
      status: 201,
      body: { launch: { taskId }, comments: [{ id: comment.id, state: 'sent' }] },
    });
    const followUpAttemptId = sent.body.launch.attemptId;
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt).toMatchObject({
      id: followUpAttemptId,
      completion: {
        summary: expect.stringMatching(/^follow-up of thread-7: Nearly there\.[^]*back\.txt:1[^]*Say why\./),
      },
    });
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({
      review: { state: 'pending', attemptId: followUpAttemptId },
      decisions: [
        {
          outcome: 'sent-back',
          attemptId,
          followUpAttemptId,
          by: 'service:admin',
          summary: expect.stringContaining('Nearly there.'),
        },
      ],
    });
    const again = await stack.call.post(url(taskId, '/send-back'), body, key);
    expect(again).toMatchObject({ status: 201, body: { launch: { attemptId: followUpAttemptId, replayed: true } } });
    expect(await stack.call.post(url(taskId, '/send-back'), body)).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_OTHER_ATTEMPT' },
    });
  });

  test('a session that cannot be continued begins again with the message', async () => {
    const { taskId, attemptId } = await aResult('again.txt');
    const message = 'Use another name.';
    const { launch } = await stack.call.ok('POST', url(taskId, '/send-back'), { attemptId, message });
    const { attempt, runLaunchManifest } = await stack.call.ended(taskId);
    expect(attempt).toMatchObject({
      id: launch.attemptId,
      conversation: { edge: 'start', sourceAttemptId: attemptId },
      completion: { status: 'success' },
    });
    expect(JSON.stringify(runLaunchManifest)).toContain('conversation-message');
    const kinds = (await stack.call.events(taskId, launch.attemptId)).map(({ kind }) => kind);
    expect(kinds).not.toContain('conversation.followed-up');
    const { decisions } = await stack.call.ok('GET', url(taskId));
    expect(decisions).toMatchObject([{ outcome: 'sent-back', attemptId, summary: message }]);
  });

  test('what has no review is not sent back, and nothing without a word', async () => {
    const { taskId, attemptId } = await aResult('wordless.txt');
    expect(await stack.call.post(url(taskId, '/send-back'), { attemptId })).toMatchObject({
      status: 409,
      body: { code: 'NO_OPEN_LINE_COMMENTS' },
    });
    expect(await agent.post(url(taskId, '/send-back'), { attemptId, message: 'x' })).toMatchObject({ status: 403 });
    await stack.call.ok('POST', url(taskId, '/accept'), { attemptId });
    expect(await stack.call.post(url(taskId, '/send-back'), { attemptId, message: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_CLOSED', details: { review: { state: 'accepted' } } },
    });
  });
});
