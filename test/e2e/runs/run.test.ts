import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import { TestWatcher } from '../../support/watcher';

let stack: Stack;
let repository: string;

describe('run of an agent', () => {
  beforeAll(async () => {
    stack = await startStack();
    repository = await aRepository(stack.dir);
    await stack.call.addRepository('sample', repository);
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      { ...scriptAgent('worker-bee', '50', '100'), type: 'slow-bee' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      { type: 'missing', name: 'Missing', provider: 'process', command: '/nowhere/agent' },
      { type: 'unfound', name: 'Unfound', provider: 'process', command: 'gemini' },
      { type: 'off', name: 'Off', provider: 'process', command: 'true', enabled: false },
      scriptAgent('as-told'),
    ]);
  });

  afterAll(() => stack.close());

  const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Do it', git: { repo: 'sample' }, ...fields });

  test('a run goes from a task over HTTP to an agent on a worktree and back onto the task', async () => {
    const task = await aTask();
    const started = await stack.call.start(task.id);
    expect(started).toMatchObject({ status: 'running', taskId: task.id, agent: 'worker-bee', provider: 'process' });

    const status = await stack.call.ended(task.id);
    expect(status.attempt.completion).toMatchObject({
      status: 'success',
      terminalSource: 'process',
      summary: 'did 3 steps',
      harness: { ended: 'exit', exitCode: 0, commits: [{ subject: 'Work' }] },
    });
    expect(status.taskEnvelope.digest).toMatch(/^sha256:/);
    expect(status.runLaunchManifest).toMatchObject({
      digest: started.runLaunchManifestDigest,
      taskEnvelope: { digest: status.taskEnvelope.digest },
    });

    const shown = await stack.call.ok('GET', `/api/tasks/${task.id}`);
    expect(shown).toMatchObject({
      status: 'done',
      attempt: { id: started.attemptId, status: 'complete', result: 'success' },
    });
    expect(await git(repository, 'log', '--format=%s', `board/${task.id}`)).toBe('Work\nFirst');
    expect(await git(repository, 'status', '--porcelain')).toBe('');

    const events = await stack.call.events(task.id, started.attemptId);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events[0].kind).toBe('run.started');
    expect(events.at(-1)).toMatchObject({ kind: 'run.completed', payload: { status: 'success' } });
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['progress', 'usage.updated']));
  });

  test('a watcher sees the run live, and one that was away resumes from its sequence on another replica', async () => {
    const other = await stack.anotherApi();
    const task = await aTask();
    const watcher = await TestWatcher.open(stack.url);
    const { attemptId } = await stack.call.start(task.id, { agent: 'slow-bee' });
    watcher.send({ type: 'subscribe', taskId: task.id, attemptId });
    await watcher.receives((message) => message.type === 'agent:event' && message.sequence === 5);
    watcher.close();

    const seen = watcher.sequences(attemptId);
    const again = await TestWatcher.open(other.url);
    again.send({ type: 'subscribe', taskId: task.id, attemptId, afterSequence: seen.at(-1) });
    await again.receives((message) => message.type === 'agent:complete');
    await again.receives(
      (message) => message.type === 'task:updated' && message.task.id === task.id && message.task.status === 'done',
    );
    again.close();

    const all = (await stack.call.events(task.id, attemptId)).map(({ sequence }) => sequence);
    expect([...seen, ...again.sequences(attemptId)]).toEqual(all);
  });

  test('stop ends the whole process group and records the end', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'slow-bee' });
    await eventually(async () => expect((await stack.call.status(task.id)).lastSequence).toBeGreaterThan(2));
    const [started] = await stack.call.events(task.id, attemptId);
    const stopped = await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
    expect(stopped).toMatchObject({ attemptId, status: 'interrupted' });
    expect(existsSync(`/proc/${started.payload.pid}`)).toBe(false);
    const status = await stack.call.status(task.id);
    expect(status.attempt.completion).toMatchObject({ status: 'interrupted', terminalSource: 'operator-interruption' });
    expect(await stack.call.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'in-progress' });
    const again = await stack.call.post(`/api/agents/${task.id}/stop`, { attemptId });
    const next = { method: 'GET', path: `/api/agents/${task.id}/attempts/${attemptId}` };
    expect(again).toMatchObject({ status: 409, body: { code: 'RUN_ENDED', details: { next } } });
    expect(await stack.call.ok(next.method, next.path)).toMatchObject({ id: attemptId });
  });

  test('a remote agent reports its end: once, the same again succeeds, another one conflicts', async () => {
    const task = await stack.call.createTask({ title: 'Far away' });
    const { attemptId, providerRuntimeManifestDigest } = await stack.call.start(task.id, { agent: 'elsewhere' });
    const report = { attemptId, providerRuntimeManifestDigest, status: 'blocked', summary: 'needs a key' };
    const send = (body: object) => stack.call.post(`/api/agents/${task.id}/complete`, body);
    expect(await send({ ...report, providerRuntimeManifestDigest: `sha256:${'0'.repeat(64)}` })).toMatchObject({
      status: 409,
    });
    expect(await send(report)).toMatchObject({ status: 200, body: { received: true } });
    expect(await send(report)).toMatchObject({ status: 200, body: { received: true } });
    expect(await send({ ...report, status: 'success' })).toMatchObject({
      status: 409,
      body: { code: 'COMPLETION_CONFLICT' },
    });
    expect(await stack.call.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'blocked' });
  });

  test('the completion endpoint is for remote agents only', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'slow-bee' });
    const answer = await stack.call.post(`/api/agents/${task.id}/complete`, { attemptId, success: true });
    expect(answer).toMatchObject({ status: 409, body: { code: 'NOT_REMOTE_CALLBACK' } });
    await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  });

  test('the same idempotency key is the same run for ever; another request under it is refused', async () => {
    const task = await aTask();
    const key = { 'x-idempotency-key': 'launch-once-please' };
    const [first, second] = await Promise.all([stack.call.start(task.id, {}, key), stack.call.start(task.id, {}, key)]);
    const { replayed: _first, ...started } = first;
    const { replayed: _second, ...startedBySecond } = second;
    expect(startedBySecond).toEqual(started);
    await stack.call.ended(task.id);
    expect(await stack.call.start(task.id, {}, key)).toEqual({ ...started, replayed: true });
    const reused = await stack.call.post(`/api/agents/${task.id}/start`, { agent: 'slow-bee' }, key);
    expect(reused).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  test('a task has at most one active run', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'slow-bee' });
    const second = await stack.call.post(`/api/agents/${task.id}/start`);
    expect(second).toMatchObject({
      status: 409,
      body: {
        code: 'RUN_ACTIVE',
        details: {
          code: 'RUN_ACTIVE',
          attemptId,
          state: expect.stringMatching(/^(prepared|dispatched|running)$/),
          next: { method: 'POST', path: `/api/agents/${task.id}/stop`, body: { attemptId } },
        },
      },
    });

    // Reads of the task's run return the one that runs; the refused launch is readable on its own.
    const url = `/api/agents/${task.id}`;
    const shows = async (running: boolean) => {
      expect(await stack.call.status(task.id)).toMatchObject({ attemptId, running });
      expect(await stack.call.ok('GET', `${url}/phase`)).toMatchObject({ attemptId });
      const { attempts } = await stack.call.ok('GET', `${url}/attempts`);
      expect(attempts.map(({ id }: { id: string }) => id)).toEqual([attemptId]);
      const watcher = await TestWatcher.open(stack.url);
      try {
        watcher.send({ type: 'subscribe', taskId: task.id });
        expect(await watcher.receives(({ type }) => type === 'subscribed')).toMatchObject({ attemptId, running });
      } finally {
        watcher.close();
      }
    };
    await shows(true);
    await stack.call.ok('POST', `${url}/stop`, { attemptId });
    await shows(false);
    const refused = (await stack.call.ok('GET', `${url}/attempts?state=refused`)).attempts;
    expect(refused).toMatchObject([{ state: 'refused', refusal: { code: 'RUN_ACTIVE', message: expect.any(String) } }]);
    expect(await stack.call.ok('GET', `${url}/attempts/${refused[0].id}`)).toEqual(refused[0]);
    expect(await stack.call.get(`/api/agents/${(await aTask()).id}/attempts/${attemptId}`)).toMatchObject({
      status: 404,
    });
  });

  test('a preview compiles the manifest that a start then stores, and starts nothing', async () => {
    const task = await aTask();
    const preview = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`);
    expect(await stack.call.status(task.id)).toMatchObject({ attemptId: null, running: false });
    await stack.call.start(task.id);
    const { runLaunchManifest } = await stack.call.ended(task.id);
    const comparable = ({ routing, runtime, providerRuntime, origins, instructions }: Record<string, unknown>) => ({
      routing,
      runtime,
      providerRuntime,
      origins,
      instructions,
    });
    expect(comparable(preview.manifest)).toEqual(comparable(runLaunchManifest));
  });

  test.each([
    ['an unknown agent', { agent: 'nobody' }, {}, 404, 'AGENT_UNKNOWN'],
    ['a disabled agent', { agent: 'off' }, {}, 409, 'AGENT_UNAVAILABLE'],
    ['an agent that is not installed', { agent: 'missing' }, {}, 409, 'AGENT_UNAVAILABLE'],
    ['a task without a repository', {}, { git: {} }, 409, 'RUN_NOT_READY'],
    ['a repository that is not configured', {}, { git: { repo: 'unknown' } }, 409, 'REPOSITORY_UNKNOWN'],
    [
      'a base branch that is not there',
      {},
      { git: { repo: 'sample', baseBranch: 'nope' } },
      409,
      'REPOSITORY_UNAVAILABLE',
    ],
    ['a phase that cannot be enforced', { phase: 'plan' }, {}, 409, 'PHASE_UNSUPPORTED'],
    [
      'a capability that no agent has',
      { requiredRuntimeCapabilities: ['run.fork'] },
      {},
      409,
      'CAPABILITY_UNSUPPORTED',
    ],
    ['an unknown field', { agnet: 'x' }, {}, 400, 'VALIDATION_ERROR'],
  ])('%s is refused before anything runs', async (_name, request, fields, status, code) => {
    const task = await aTask(fields);
    const answer = await stack.call.post(`/api/agents/${task.id}/start`, request);
    expect(answer).toMatchObject({ status, body: { code, error: expect.any(String) } });
    expect((await stack.call.status(task.id)).running).toBe(false);
    expect(await stack.call.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'todo' });
  });

  test('an agent that is not installed is refused with the program, where it was searched and what helps', async () => {
    const task = await aTask();
    for (const operation of ['start', 'launch-preview']) {
      const answer = await stack.call.post(`/api/agents/${task.id}/${operation}`, { agent: 'unfound' });
      expect(answer).toMatchObject({
        status: 409,
        body: {
          code: 'AGENT_UNAVAILABLE',
          details: {
            findings: [
              {
                code: 'agent-program-missing',
                program: 'gemini',
                searched: expect.any(Array),
                remedy: expect.stringContaining('npm install --global'),
              },
            ],
            next: { method: 'POST', path: '/api/config/agents/unfound/check' },
          },
        },
      });
    }
    const { hosts } = await stack.call.ok('GET', '/api/agents/hosts');
    expect(hosts).toMatchObject([{ findings: [] }]);
  });

  test.each(['../../etc', 'task_..%2f..%2fx', `task_${'a'.repeat(300)}`, 'task_%00'])(
    'the hostile id %s is not found',
    async (id) => {
      const answer = await stack.call.post(`/api/agents/${id}/start`);
      expect([400, 404]).toContain(answer.status);
    },
  );

  test('the worktree of a run is a real one, outside the primary checkout', async () => {
    const task = await aTask();
    await stack.call.start(task.id);
    const { taskEnvelope } = await stack.call.ended(task.id);
    expect(readFileSync(join(taskEnvelope.workspace.path, 'step-1.txt'), 'utf8')).toContain('attempt_');
    expect(taskEnvelope.workspace.baseline.headSha).toBe(await git(repository, 'rev-parse', 'main'));
  });

  test('the attempts of a task are listed, the newest first, page by page', async () => {
    const task = await aTask();
    const made: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      made.unshift((await stack.call.start(task.id, { agent: 'elsewhere' })).attemptId);
      await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId: made[0] });
    }
    const url = `/api/agents/${task.id}/attempts`;
    const first = await stack.call.ok('GET', `${url}?limit=2`);
    const second = await stack.call.ok('GET', `${url}?limit=2&before=${first.nextBefore}`);
    expect([...first.attempts, ...second.attempts].map(({ id }) => id)).toEqual(made);
    expect(second.nextBefore).toBeNull();
    expect(await stack.call.get(`${url}?limit=0`)).toMatchObject({ status: 400 });
    expect(await stack.call.get('/api/agents/task_20260101_nobody/attempts')).toMatchObject({ status: 404 });
  });

  describe('of an existing client', () => {
    it('is started in the worktree that its task names, and read by the names of the reply profile', async () => {
      const compat = (method: string, path: string, body?: unknown) =>
        stack.call.ok(method, `/compat/api${path}`, body);
      const description = JSON.stringify({
        result: { status: 'success', summary: 'done' },
        files: { 'compat.txt': 'c' },
        commit: 'Work',
      });
      const { id } = await compat('POST', '/tasks', { title: 'Old client', description, git: { repo: 'sample' } });
      const { path } = await compat('POST', `/tasks/${id}/worktree`, {});
      const task = await compat('GET', `/tasks/${id}`);
      expect(task).toMatchObject({ created: task.createdAt, git: { repo: 'sample', worktreePath: path } });
      const { attemptId } = await compat('POST', `/agents/${id}/start`, {
        agent: 'as-told',
        idempotencyKey: `old-${id}`,
      });
      await stack.call.ended(id);
      expect(await compat('GET', `/agents/${id}/attempts`)).toEqual([attemptId]);
      const status = await compat('GET', `/agents/${id}/status`);
      expect(status).toMatchObject({
        running: false,
        status: 'complete',
        attempt: { id: attemptId, status: 'complete' },
      });
      expect(status.attempt.ended).toBe(status.attempt.endedAt);
      expect(await compat('GET', `/agents/${id}/phase?attemptId=${attemptId}`)).toMatchObject({
        transitionSequence: 0,
        effectiveEvidence: { identity: { mode: 'legacy', phase: 'legacy' } },
      });
      const { reservations } = await compat('GET', `/admission?taskId=${id}`);
      expect(reservations).toMatchObject([
        { attemptId, state: 'released', request: { requested: { runSlots: 1, processSlots: 1 } } },
      ]);
      const { rootObjectiveId } = reservations[0].request.executionTree;
      expect(await compat('GET', `/admission/tree/${rootObjectiveId}`)).toMatchObject({ reserved: { runSlots: 0 } });
      const found = (await compat('GET', '/tasks?view=summary')).find((one: { id: string }) => one.id === id);
      expect(found).toMatchObject({ status: 'done', attempt: { id: attemptId, status: 'complete' } });
    });

    it('has the recovery of a run that failed', async () => {
      const description = JSON.stringify({ result: { status: 'failed', summary: 'broken' } });
      const task = await stack.call.createTask({ title: 'Fails', description, git: { repo: 'sample' } });
      const { attemptId } = await stack.call.start(task.id, { agent: 'as-told' });
      await stack.call.ended(task.id);
      const recovery = await stack.call.ok('GET', `/compat/api/agents/${task.id}/recovery`);
      expect(recovery).toMatchObject({ parentRunId: attemptId, rootRunId: attemptId, failure: { retryable: false } });
      expect(recovery.failure.classification).toBe(recovery.failureClass);
    });
  });
});
