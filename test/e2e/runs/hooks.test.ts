import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aReceiver, expectedSignature } from '../../services/receiver';
import { type Stack, startStack } from '../../support/stack/stack';

const secret = 'a secret of the receivers';
let stack: Stack;
describe('hooks', () => {
  beforeAll(async () => {
    stack = await startStack({
      BOARD_WEBHOOK_SECRET: secret,
      BOARD_WEBHOOK_ALLOW_PRIVATE: 'true',
      BOARD_RETRY_BACKOFF_MS: '50',
    });
  });
  afterAll(() => stack.close());

  interface Reported {
    hookId: string;
    event: string;
    context: Record<string, unknown>;
  }

  /** A receiver with a hook that notifies it. */
  async function reported(hook: Record<string, unknown>, answer?: (nth: number) => number) {
    const receiver = await aReceiver(answer);
    const action = { type: 'webhook', url: receiver.url };
    const { id } = await stack.call.ok('POST', '/api/hooks', { name: 'Notify', action, ...hook });
    return {
      id: id as string,
      receiver,
      received: (): Reported[] => receiver.received.map(({ body }) => JSON.parse(body) as Reported),
      async close() {
        await stack.call.ok('DELETE', `/api/hooks/${id}`);
        await receiver.close();
      },
    };
  }
  const executions = (hookId: string) => stack.call.ok('GET', `/api/hooks/executions?hookId=${hookId}`);
  const status = (id: string, to: string) => stack.call.ok('PATCH', `/api/tasks/${id}`, { status: to });

  test('a change of a status is delivered once, signed, however many replicas notice it', async () => {
    const another = await stack.anotherApi();
    const hook = await reported({ event: 'task.status.changed', filter: { newStatus: 'done', project: 'shop' } });
    const { id } = await stack.call.createTask({ title: 'Ship', project: 'shop' });
    const other = await stack.call.createTask({ title: 'Elsewhere', project: 'garden' });
    await status(other.id, 'done');
    await status(id, 'in-progress');
    await status(id, 'done');
    await eventually(async () => expect(await executions(hook.id)).toMatchObject([{ state: 'delivered', taskId: id }]));
    expect(hook.received()).toEqual([
      {
        hookId: hook.id,
        hookName: 'Notify',
        event: 'task.status.changed',
        context: expect.objectContaining({
          taskId: id,
          taskTitle: 'Ship',
          project: 'shop',
          previousStatus: 'in-progress',
          newStatus: 'done',
          location: 'active',
        }),
      },
    ]);
    const [received] = hook.receiver.received;
    expect(received!.headers['webhook-signature']).toBe(expectedSignature(secret, received!));
    await another.close();
    await hook.close();
  });

  test('every kind of change has its event, also one made by hand', async () => {
    const events = ['task.created', 'task.started', 'task.blocked', 'task.done', 'task.archived'];
    const hooks = await Promise.all(events.map((event) => reported({ event })));
    const { id } = await stack.call.createTask({ title: 'Followed' });
    await status(id, 'in-progress');
    const directory = join(stack.env.BOARD_DATA_DIR, 'tasks', 'active');
    const file = join(
      directory,
      (await readdir(directory)).find((name) => name.startsWith(id))!,
    );
    await writeFile(file, (await readFile(file, 'utf8')).replace('status: in-progress', 'status: blocked'));
    await eventually(() => expect(hooks[2]!.received()).toHaveLength(1));
    await status(id, 'done');
    await stack.call.ok('POST', `/api/tasks/${id}/archive`);
    await eventually(() => expect(hooks.map((hook) => hook.received().length)).toEqual([1, 1, 1, 1, 1]));
    expect(hooks.map((hook) => hook.received()[0]?.event)).toEqual(events);
    await Promise.all(hooks.map((hook) => hook.close()));
  });

  test('a receiver that fails is retried until it accepts, and one that never does is abandoned', async () => {
    const flaky = await reported({ event: 'task.done' }, (nth) => (nth < 3 ? 503 : 200));
    const gone = await reported({ event: 'task.done' }, () => 410);
    const { id } = await stack.call.createTask({ title: 'Notified again' });
    await status(id, 'done');
    await eventually(async () =>
      expect(await executions(flaky.id)).toMatchObject([{ state: 'delivered', attempts: 3 }]),
    );
    expect(new Set(flaky.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await eventually(async () =>
      expect(await executions(gone.id)).toMatchObject([
        { state: 'failed', attempts: 1, status: 410, success: false, error: 'The receiver responded with 410.' },
      ]),
    );
    await flaky.close();
    await gone.close();
  });

  describe('under rules', () => {
    const aPolicy = (project: string, policy: object) =>
      stack.call.ok('POST', '/api/policies', { name: 'A rule', scope: { projects: [project] }, ...policy });
    const done = async (project: string) => {
      const { id } = await stack.call.createTask({ title: 'Ruled', project });
      await status(id, 'done');
      return id;
    };

    test('a message that a policy denies is not sent, and its execution states why', async () => {
      const hook = await reported({ event: 'task.done' });
      await aPolicy('silent', { rules: [{ action: 'external-message', effect: 'deny' }] });
      await aPolicy('warned', { rules: [{ action: 'hook', effect: 'warn' }] });
      const silent = await done('silent');
      const [blocked] = await eventually(async () => {
        const found = await executions(hook.id);
        expect(found).toMatchObject([{ state: 'blocked' }]);
        return found;
      });
      expect(blocked).toMatchObject({
        ...{ taskId: silent, success: false, attempts: 0, traceId: expect.stringMatching(/^trace_/) },
        error: expect.stringMatching(/^A rule: deny: tool \*, action external-message An administrator/),
      });
      const trace = await stack.call.ok('GET', `/api/governance/traces/${blocked.traceId}`);
      expect(trace).toMatchObject({ outcome: 'blocked', subject: { taskId: silent, actionType: 'external-message' } });
      const warned = await done('warned');
      await eventually(() => expect(hook.received()).toMatchObject([{ context: { taskId: warned } }]));
      await eventually(async () =>
        expect((await executions(hook.id))[0]).toMatchObject({
          state: 'delivered',
          attempts: 1,
          traceId: expect.stringMatching(/^trace_/),
        }),
      );
      await hook.close();
    });

    test('a message that needs an approval waits for it, and is sent once', async () => {
      const hook = await reported({ event: 'task.done' });
      await aPolicy('reviewed', { type: 'require-approval' });
      const { id } = await stack.call.createTask({ title: 'Ruled', project: 'elsewhere' });
      await stack.call.ok('POST', '/api/hooks/fire', { event: 'task.done', taskId: id, project: 'reviewed' });
      await eventually(async () =>
        expect(await executions(hook.id)).toMatchObject([{ state: 'pending', attempts: 0 }]),
      );
      const approvals = await stack.call.ok('GET', '/api/agents/permissions/approvals');
      const approval = approvals.find(({ taskId }: { taskId: string }) => taskId === id);
      expect(approval).toMatchObject({
        ...{ action: 'external-message', status: 'pending', requestedBy: 'system:hooks' },
        details: { hookId: hook.id, event: 'task.done' },
      });
      expect(hook.received()).toEqual([]);
      await stack.call.ok('POST', `/api/agents/permissions/approvals/${approval.id}`, { decision: 'approved' });
      await eventually(async () =>
        expect(await executions(hook.id)).toMatchObject([{ state: 'delivered', attempts: 1 }]),
      );
      expect(hook.received()).toHaveLength(1);
      await hook.close();
    });
  });

  test('hooks are changed, turned off, listed, and fired by hand', async () => {
    const hook = await reported({ event: 'task.blocked', filter: { type: 'code' } });
    const { id } = await stack.call.createTask({ title: 'By hand' });
    const fired = await stack.call.ok('POST', '/api/hooks/fire', {
      event: 'task.blocked',
      taskId: id,
      newStatus: 'blocked',
    });
    expect(fired).toEqual({ hooksRun: 1, results: [{ hookId: hook.id, hookName: 'Notify' }] });
    await eventually(() => expect(hook.received()).toMatchObject([{ context: { taskId: id, newStatus: 'blocked' } }]));
    const off = await stack.call.ok('PATCH', `/api/hooks/${hook.id}`, { enabled: false, expectedRevision: 1 });
    expect(off).toMatchObject({ enabled: false, revision: 2, filter: { type: 'code' } });
    expect(await stack.call.ok('GET', '/api/hooks?enabled=true')).toEqual([]);
    expect(await stack.call.ok('POST', '/api/hooks/fire', { event: 'task.blocked', taskId: id })).toMatchObject({
      hooksRun: 0,
    });
    const stale = await stack.call.send('PATCH', `/api/hooks/${hook.id}`, { name: 'Late', expectedRevision: 1 });
    expect(stale).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    await hook.close();
  });

  test.each([
    ['an event that is none', { event: 'task.imagined' }, 'event'],
    ['a URL that is no web page', { action: { type: 'webhook', url: 'file:///etc/passwd' } }, 'action.url'],
    ['a URL with a password', { action: { type: 'webhook', url: 'https://a:b@example.org' } }, 'action.url'],
    ['an unknown action', { action: { type: 'shell', url: 'https://example.org' } }, 'action.type'],
    ['a filter for nothing', { filter: { colour: 'red' } }, 'filter.colour'],
  ])('%s is refused by its field', async (_case, fields, path) => {
    const action = { type: 'webhook', url: 'https://example.org/told' };
    const refused = await stack.call.send('POST', '/api/hooks', {
      name: 'Notify',
      event: 'task.done',
      action,
      ...fields,
    });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});
