import { rename } from 'node:fs/promises';
import { eventually } from '../../../platform/testing/eventually';
import { Caller, scriptAgent } from '../../support/caller';
import { aRemoteRepository, type RemoteRepository } from '../../support/git/remote-repository';
import { git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let shop: RemoteRepository;
let agent: Caller;

describe('runs in worktrees', () => {
  beforeAll(async () => {
    stack = await startStack({
      BOARD_AUTH_ENABLED: 'true',
      BOARD_ADMIN_KEY: 'the-key-of-the-administrator-of-the-test',
      BOARD_API_KEYS: 'bot:the-key-of-an-agent-of-the-test:agent',
    });
    stack.call = new Caller(stack.url, { 'x-api-key': 'the-key-of-the-administrator-of-the-test' });
    agent = new Caller(stack.url, { 'x-api-key': 'the-key-of-an-agent-of-the-test' });
    shop = await aRemoteRepository(stack.dir);
    await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
    ]);
  });

  afterAll(() => stack.close());

  const aTask = async (): Promise<string> =>
    (await stack.call.createTask({ title: 'Do it', git: { repo: 'shop' } })).id;
  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;

  /** Runs `work` while the remote cannot be reached. */
  async function offline<T>(work: () => Promise<T>): Promise<T> {
    await rename(shop.remote, `${shop.remote}.away`);
    try {
      return await work();
    } finally {
      await rename(`${shop.remote}.away`, shop.remote);
    }
  }

  test('a run makes the worktree it needs, holds its lease while it lasts, and gives it back', async () => {
    const taskId = await aTask();
    const { attemptId } = await stack.call.start(taskId, { agent: 'long-bee' });
    const during = await stack.call.ok('GET', url(taskId));
    expect(during).toMatchObject({
      state: 'ready',
      lease: { ownerAttemptId: attemptId },
      base: { source: 'remote', sha: await git(shop.remote, 'rev-parse', 'main') },
      history: [{ kind: 'create', actor: `run:${attemptId}` }],
    });
    const { taskEnvelope } = await stack.call.status(taskId);
    expect(taskEnvelope.workspace).toMatchObject({ path: during.path, branch: during.branch });

    expect(during.cleanupPreview).toMatchObject({ safe: false, forceable: false });
    const forced = await stack.call.send('DELETE', url(taskId, '?force=true&reason=now'));
    const found = forced.body.details.findings.map(({ code }: { code: string }) => code);
    expect(found).toEqual(expect.arrayContaining(['active-attempt', 'attempt-lease', 'held']));
    for (const what of ['/rebase', '/merge']) {
      expect(await stack.call.post(url(taskId, what))).toMatchObject({
        status: 409,
        body: { code: 'WORKTREE_IN_USE', details: { attemptId } },
      });
    }
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({ lease: { ownerAttemptId: null } });
  });

  test('a launch needs the remote to make a worktree, and none when there is one', async () => {
    const [without, having] = [await aTask(), await aTask()];
    await stack.call.ok('POST', url(having), {});
    await offline(async () => {
      expect(await stack.call.post(`/api/agents/${without}/start`)).toMatchObject({
        status: 409,
        body: { code: 'WORKTREE_FETCH_FAILED' },
      });
      await stack.call.start(having, { agent: 'worker-bee' });
      expect((await stack.call.ended(having)).attempt.completion.status).toBe('success');
    });
  });

  test('a run that is launched while its worktree is made waits for it', async () => {
    const taskId = await aTask();
    const [made, started] = await Promise.all([
      stack.call.ok('POST', url(taskId), {}),
      stack.call.start(taskId, { agent: 'worker-bee' }),
    ]);
    expect(started.status).toBe('running');
    const { manifestId, history } = await stack.call.ok('GET', url(taskId));
    expect(manifestId).toBe(made.manifestId);
    expect(history).toHaveLength(1);
    await stack.call.ended(taskId);
  });

  test('creating and removing at once leave either a worktree or none, and never half of one', async () => {
    const taskId = await aTask();
    await stack.call.ok('POST', url(taskId), {});
    const answers = await Promise.all([
      stack.call.send('DELETE', url(taskId)),
      stack.call.post(url(taskId)),
      stack.call.send('DELETE', url(taskId)),
      stack.call.post(url(taskId, '/rebase')),
    ]);
    for (const { status } of answers) {
      expect([200, 201, 404, 409]).toContain(status);
    }
    const rest = await eventually(async () => {
      const status = await stack.call.ok('GET', url(taskId));
      expect(['ready', 'removed']).toContain(status.state);
      return status;
    });
    const listed = await git(shop.path, 'worktree', 'list', '--porcelain');
    expect(listed.includes(rest.path)).toBe(rest.state === 'ready');
  });

  test('an agent may remove what is safe to remove; force and adoption are for administrators', async () => {
    const taskId = await aTask();
    await agent.ok('POST', url(taskId), {});
    const forced = await agent.send('DELETE', url(taskId, '?force=true&reason=x'));
    expect(forced).toMatchObject({ status: 403, body: { details: { required: ['admin:manage'] } } });
    expect(await agent.post(url(taskId, '/adopt'))).toMatchObject({ status: 403 });
    expect(await agent.ok('DELETE', url(taskId))).toMatchObject({ state: 'removed' });
  });
});
