import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypedSearchAttributes } from '@temporalio/common';
import { startProofMs } from '../../../platform/crypto/message-proof';
import { derivedSecret } from '../../../platform/http/webhook';
import { createLog } from '../../../platform/log/log';
import { callNexus } from '../../../platform/temporal/nexus-client';
import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { eventually } from '../../../platform/testing/eventually';
import { openDatabase } from '../../../stores/port/open';
import { workspaceDatabase } from '../../../stores/port/workspace-database';
import { openMessageProofs } from '../../../stores/system/message-key-store';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { hostService } from '../../../workflows/host-service';
import { inspectMessage } from '../../../workflows/message-proofs';
import { boardQueue, hostQueue } from '../../../workflows/queues';
import { launchScheduleId } from '../../../workflows/scheduled-launch/messages';
import { idInWorkspace } from '../../../workflows/workspace-ids';
import { worktreeId } from '../../../workflows/worktree/messages';
import { alpha, beta, registryOf } from '../../api/workspaces/boards';
import { aReceiver, expectedSignature } from '../../services/receiver';
import { Caller, scriptAgent } from '../../support/caller';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const secret = 'a secret of the receivers';
let stack: Stack;
let inAlpha: Caller;
let inBeta: Caller;
const repositories: Record<string, string> = {};

describe('runs of two workspaces on one host', () => {
  beforeAll(async () => {
    stack = await startStack(
      { BOARD_WEBHOOK_SECRET: secret, BOARD_WEBHOOK_ALLOW_PRIVATE: 'true', BOARD_MAX_RUNS: '2' },
      { registry: registryOf(alpha, beta) },
    );
    inAlpha = new Caller(stack.url, { 'x-board-workspace': alpha });
    inBeta = new Caller(stack.url, { 'x-board-workspace': beta });
    for (const [name, caller] of [
      ['local', stack.call],
      [alpha, inAlpha],
    ] as const) {
      repositories[name] = await aRepository(stack.dir, `repository-${name}`);
      await caller.addRepository('sample', repositories[name]);
      await caller.configureAgents([
        scriptAgent('worker-bee'),
        { ...scriptAgent('worker-bee', '200', '100'), type: 'slow-bee' },
        { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
        { ...scriptAgent('handle-bearer', join(stack.dir, `handle-${name}.json`)), launchesChildren: true },
      ]);
    }
  });
  afterAll(() => stack.close());

  const aTask = (caller: Caller, fields: object = {}) =>
    caller.createTask({ title: 'Do it', git: { repo: 'sample' }, ...fields });
  const folderOf = (workspaceId: string) =>
    join(stack.env.BOARD_DATA_DIR, ...(workspaceId === 'local' ? [] : ['workspaces', workspaceId]));

  test('the same task runs in both at once, each with its own worktree, branch, workflow and records', async () => {
    const { id } = await aTask(stack.call, { title: 'In both' });
    const tasks = (workspaceId: string) => join(folderOf(workspaceId), 'tasks', 'active');
    const [file = ''] = (await readdir(tasks('local'))).filter((name) => name.includes(id));
    await mkdir(tasks(alpha), { recursive: true });
    await copyFile(join(tasks('local'), file), join(tasks(alpha), file));
    await eventually(async () => expect((await inAlpha.get(`/api/tasks/${id}`)).status).toBe(200));

    const started = await Promise.all([stack.call.start(id), inAlpha.start(id)]);
    const [ofLocal, ofAlpha] = await Promise.all([stack.call.ended(id), inAlpha.ended(id)]);
    for (const status of [ofLocal, ofAlpha]) {
      expect(status.attempt.completion).toMatchObject({
        status: 'success',
        harness: { commits: [{ subject: 'Work' }] },
      });
    }
    for (const name of ['local', alpha]) {
      expect(await git(repositories[name]!, 'log', '--format=%s', `board/${id}`)).toBe('Work\nFirst');
    }
    const place = (status: typeof ofLocal) => status.taskEnvelope.workspace.path as string;
    expect(place(ofLocal)).toContain(join(folderOf('local'), 'worktrees'));
    expect(place(ofAlpha)).toContain(join(folderOf(alpha), 'worktrees'));

    const [local, other] = started.map(({ attemptId }) => attemptId as string);
    const workspaceOf = async (workflowId: string) =>
      (await stack.temporal.workflow.getHandle(workflowId).describe()).typedSearchAttributes.get(
        searchAttributes.workspaceId,
      );
    expect(await workspaceOf(agentRunId(local!))).toBe('local');
    expect(await workspaceOf(idInWorkspace(alpha, agentRunId(other!)))).toBe(alpha);
    expect(await workspaceOf(idInWorkspace(alpha, worktreeId(id)))).toBe(alpha);
    // The attempts of one are none of the other, whichever operation asks.
    for (const [caller, attemptId] of [
      [stack.call, other],
      [inAlpha, local],
      [inBeta, other],
    ] as const) {
      const paths = [`attempts/${attemptId}`, `attempts/${attemptId}/events`, `status?attemptId=${attemptId}`];
      const answers = await Promise.all(paths.map((path) => caller.get(`/api/agents/${id}/${path}`)));
      expect(answers.map(({ status }) => status >= 400)).toEqual([true, true, true]);
      expect((await caller.get(`/api/admission/${attemptId}`)).status).toBe(404);
    }
    const listed = async (caller: Caller) => JSON.stringify(await caller.ok('GET', '/api/admission?limit=100'));
    expect([(await listed(stack.call)).includes(other!), (await listed(inAlpha)).includes(local!)]).toEqual([
      false,
      false,
    ]);
  });

  test('they share the capacity: what waits in one is started when the other has released some', async () => {
    const running = await Promise.all([aTask(stack.call), aTask(stack.call)]);
    const started = await Promise.all(running.map(({ id }) => stack.call.start(id, { agent: 'slow-bee' })));
    const stop = async (nth: number) => {
      const { taskId, attemptId } = started[nth];
      await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    };
    const waiting = await aTask(inAlpha);
    expect(await inAlpha.start(waiting.id)).toMatchObject({ status: 'queued' });
    expect((await inAlpha.ok('GET', '/api/admission/queue')).entries).toMatchObject([{ workspaceId: alpha }]);
    const queue = await stack.call.ok('GET', '/api/admission/queue');
    expect(queue).toMatchObject({ entries: [], depth: { global: { current: 1 }, workspaces: [] } });
    await stop(0);
    expect((await inAlpha.ended(waiting.id)).attempt.completion.status).toBe('success');
    await stop(1);
  });

  test('a hook is called for its workspace alone, signed with the secret of that workspace', async () => {
    const receiver = await aReceiver();
    const action = { type: 'webhook', url: receiver.url };
    await inAlpha.ok('POST', '/api/hooks', { name: 'Notify', event: 'task.created', action });
    await stack.call.createTask({ title: 'Of local' });
    const { id } = await inAlpha.createTask({ title: 'Of alpha' });
    await eventually(() => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]!.body).toContain(id);
    const own = Buffer.from(derivedSecret(secret, alpha).slice('whsec_'.length), 'base64');
    const expected = (key: string | Buffer) => expectedSignature(key as string, receiver.received[0]!);
    expect(receiver.received[0]!.headers['webhook-signature']).toBe(expected(own));
    expect(expected(own)).not.toBe(expected(secret));
    await receiver.close();
  });

  test('a scheduled launch has a schedule of its workspace, which starts it there', async () => {
    const task = await inAlpha.createTask({ title: 'Again', agent: 'elsewhere' });
    const { id } = await inAlpha.ok('POST', '/api/scheduled-launches', {
      taskId: task.id,
      spec: { cron: '0 3 * * *' },
    });
    const schedule = stack.temporal.schedule.getHandle(idInWorkspace(alpha, launchScheduleId(id)));
    expect((await schedule.describe()).action).toMatchObject({ workflowId: schedule.scheduleId });
    expect((await stack.call.get(`/api/scheduled-launches/${id}`)).status).toBe(404);
    expect((await inAlpha.post(`/api/scheduled-launches/${id}/trigger`)).status).toBe(202);
    await eventually(async () => {
      const { lastOutcome } = await inAlpha.ok('GET', `/api/scheduled-launches/${id}`);
      expect(lastOutcome).toMatchObject({ status: 'running' });
    });
    await inAlpha.ok('PATCH', `/api/scheduled-launches/${id}`, { spec: { cron: '0 4 * * *' } });
    await eventually(async () => {
      const { action, spec, state } = await schedule.describe();
      expect(state.note).toBe('revision 2');
      expect(spec.calendars).toMatchObject([{ hour: [{ start: 4 }] }]);
      expect(action).toMatchObject({ workflowId: schedule.scheduleId });
      const attributes = action.typedSearchAttributes as TypedSearchAttributes;
      expect(attributes.get(searchAttributes.workspaceId)).toBe(alpha);
    });
    await inAlpha.ok('DELETE', `/api/scheduled-launches/${id}`);
    await expect(schedule.describe()).rejects.toThrow();
    const { attemptId } = await inAlpha.status(task.id);
    await inAlpha.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  });

  test('each is routed by what the hosts they share have of its own agents', async () => {
    await inBeta.addRepository('sample', await aRepository(stack.dir, 'repository-routed'));
    await inBeta.configureAgents([
      scriptAgent('worker-bee'),
      { type: 'missing', name: 'Missing', provider: 'process', command: '/nowhere/agent' },
    ]);
    await inBeta.ok('PUT', '/api/agents/routing', {
      enabled: true,
      rules: [{ id: 'all', name: 'All', match: {}, agent: 'missing', fallback: 'worker-bee' }],
      defaultAgent: 'worker-bee',
      fallbackOnFailure: true,
      maxRetries: 0,
    });
    const { hosts } = await inBeta.ok('GET', '/api/agents/hosts');
    expect(hosts).toMatchObject([{ hostId: stack.worker.hostId }]);
    const candidates = await eventually(async () => {
      const preview = await inBeta.ok('POST', '/api/agents/hosts/preview', {});
      expect(preview.hosts).toMatchObject([{ hostId: stack.worker.hostId }]);
      const probed = preview.hosts[0].candidates.filter(({ source }: { source: string }) => source === 'host');
      expect(probed).toHaveLength(2);
      return probed;
    });
    expect(candidates).toContainEqual(expect.objectContaining({ agent: 'missing', compatible: false }));
    const task = await aTask(inBeta);
    expect(await inBeta.start(task.id)).toMatchObject({ agent: 'worker-bee' });
    await inBeta.ended(task.id);
  });

  test('the handle of an attempt is of its workspace, and launches nothing in another', async () => {
    const parent = await inAlpha.start((await aTask(inAlpha)).id, { agent: 'handle-bearer' });
    const { handle } = await eventually(
      async () => JSON.parse(await readFile(join(stack.dir, `handle-${alpha}.json`), 'utf8')) as { handle: string },
    );
    expect(handle).toMatch(new RegExp(`^rbah_${alpha}_${parent.attemptId}_`));
    const child = async (taskId: string, presented: string, headers = {}) =>
      new Caller(stack.url).post(
        '/api/run-children',
        { taskId },
        { 'X-Board-Attempt-Handle': presented, 'x-idempotency-key': randomUUID(), ...headers },
      );
    const remote = { agent: 'elsewhere' };
    const [own, other] = [
      await inAlpha.createTask({ title: 'Own', ...remote }),
      await stack.call.createTask({ title: 'Other', ...remote }),
    ];
    const refused = await child(other.id, handle);
    expect(refused.status).toBe(404);
    expect((await child(own.id, handle, { 'x-board-workspace': beta })).status).toBe(403);
    for (const forged of [
      handle.replace(`${alpha}_`, ''),
      handle.replace(alpha, beta),
      handle.replace(alpha, 'ws-cccccccccccc'),
    ]) {
      expect((await child(own.id, forged)).status).toBe(401);
    }
    const launched = await child(own.id, handle);
    expect(launched).toMatchObject({ status: 201, body: { taskId: own.id } });
    expect((await inAlpha.status(own.id)).attempt).toMatchObject({ parentAttemptId: parent.attemptId });
    await eventually(async () => {
      const events = JSON.stringify(await inAlpha.events(parent.taskId, parent.attemptId));
      expect([events.includes('my handle is [REDACTED]'), events.includes(handle)]).toEqual([true, false]);
    });
    await inAlpha.ok('POST', `/api/agents/${parent.taskId}/stop`, { attemptId: parent.attemptId });
  });

  test('what an operator of Temporal starts is of the workspace of its id, and of none where there is none', async () => {
    const failure = (workflowType: string, workflowId: string) =>
      stack.temporal.workflow
        .execute(workflowType, {
          workflowId,
          taskQueue: boardQueue,
          args: [{}],
          workflowExecutionTimeout: '20 seconds',
        })
        .then(
          () => 'succeeded',
          (error: unknown) => String((error as { cause?: { cause?: { type?: string } } }).cause?.cause?.type),
        );
    expect(await failure('outputCleanup', idInWorkspace('ws-cccccccccccc', 'x'))).toBe('WORKSPACE_UNKNOWN');
    expect(await failure('outputCleanup', idInWorkspace(alpha, 'x'))).toBe('succeeded');
    expect(await failure('admissionScheduler', idInWorkspace(alpha, 'admission/scheduler'))).toBe('ACTIVITY_FORBIDDEN');
  });

  test('each has the schedules of the service', async () => {
    const ids = new Set<string>();
    for await (const { scheduleId } of stack.temporal.schedule.list()) {
      ids.add(scheduleId);
    }
    expect([ids.has('reconcile'), ids.has(idInWorkspace(alpha, 'reconcile'))]).toEqual([true, true]);
  });

  test('a message that is proven in one is none in another, whichever workflow or query it is sent to', async () => {
    const { id } = await aTask(inAlpha);
    await inAlpha.ok('POST', `/api/tasks/${id}/worktree`, {});
    for (const caller of [stack.call, inBeta]) {
      const kinds = ['', '/rebase', '/commit', '/merge'];
      const answers = await Promise.all(kinds.map((kind) => caller.post(`/api/tasks/${id}/worktree${kind}`)));
      expect(answers.map(({ status }) => status >= 400 && status < 500)).toEqual(kinds.map(() => true));
      expect((await caller.send('DELETE', `/api/tasks/${id}/worktree`)).status).toBe(404);
    }
    const database = await openDatabase({
      mongoUrl: stack.env.MONGODB_URL,
      dataDir: stack.env.BOARD_DATA_DIR,
      log: createLog({ name: 'test', level: 'silent' }),
    });
    const ofAlpha = await openMessageProofs(workspaceDatabase(database, alpha));
    const question = { taskId: id };
    const input = { ...question, proof: ofAlpha.sign(inspectMessage(question), startProofMs) };
    const server = { httpAddress: stack.env.TEMPORAL_HTTP_ADDRESS!, namespace: stack.env.TEMPORAL_NAMESPACE };
    const ask = (workspaceId: string | undefined) =>
      callNexus(server, {
        ...{ taskQueue: hostQueue(stack.worker.hostId), service: hostService, operation: 'inspect', withinMs: 10_000 },
        input: { ...input, ...(workspaceId === undefined ? {} : { workspaceId }) },
      });
    expect(await ask(alpha)).toMatchObject({ evidence: { branch: `board/${id}`, exists: true } });
    for (const other of [beta, 'local', undefined]) {
      await expect(ask(other)).rejects.toThrow(/is not proven/);
    }
    await expect(ask('ws-cccccccccccc')).rejects.toThrow(/no workspace/);
    await database.close();
  });
});
