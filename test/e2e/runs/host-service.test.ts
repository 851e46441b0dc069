import { randomUUID } from 'node:crypto';
import { type RunningApi, startApi } from '../../../api/start';
import { createLog } from '../../../platform/log/log';
import { callNexus } from '../../../platform/temporal/nexus-client';
import { hostService } from '../../../workflows/host-service';
import { hostQueue } from '../../../workflows/queues';
import { type Answer, Caller, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { sendRequest } from '../../support/http-request';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let without: RunningApi;

describe('host questions', () => {
  beforeAll(async () => {
    stack = await startStack();
    const log = createLog({ name: 'test', level: 'error' });
    without = await startApi({ ...stack.env, TEMPORAL_HTTP_ADDRESS: undefined }, log, { client: stack.temporal });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([scriptAgent('worker-bee')]);
  });

  afterAll(async () => {
    await without.close();
    await stack.close();
  });

  const started = async (type: string) => (await stack.temporal.workflow.count(`WorkflowType = "${type}"`)).count;

  /** A worktree without the time of its inspection. */
  const lookedAt = (worktree: Answer['body']): unknown =>
    JSON.parse(JSON.stringify(worktree, (key, value: unknown) => (key === 'inspectedAt' ? undefined : value)));

  test('what a host is asked is answered alike with and without the HTTP API of Temporal, which keeps nothing of it', async () => {
    const slow = new Caller(without.url);
    const { id } = await stack.call.createTask({ title: 'Asked', git: { repo: 'sample' } });
    await stack.call.ok('POST', `/api/tasks/${id}/worktree`, {});

    const preview = await stack.call.ok('POST', `/api/agents/${id}/launch-preview`, {});
    const worktree = await stack.call.ok('GET', `/api/tasks/${id}/worktree`);
    const expired = await stack.call.ok('GET', '/api/tasks/worktrees/cleanup-preview');
    expect([await started('launchPreview'), await started('worktreeInspection')]).toEqual([0, 0]);

    expect(await slow.ok('POST', `/api/agents/${id}/launch-preview`, {})).toEqual(preview);
    const again = await slow.ok('GET', `/api/tasks/${id}/worktree`);
    expect(lookedAt(again)).toEqual(lookedAt(worktree));
    expect(await slow.ok('GET', '/api/tasks/worktrees/cleanup-preview')).toEqual(expired);
    const diff = await stack.call.ok('GET', `/api/diff/${id}`);
    expect(await started('worktreeDiff')).toBe(0);
    expect(await slow.ok('GET', `/api/diff/${id}`)).toEqual(diff);
  });

  test('a host responds to the API only: not to a page on the web, nor to another client of the HTTP API of Temporal', async () => {
    const before = [await started('launchPreview'), await started('worktreeInspection')];
    const { id } = await stack.call.createTask({ title: 'Spied on', git: { repo: 'sample' } });
    await stack.call.ok('POST', `/api/tasks/${id}/worktree`, {});
    const { TEMPORAL_HTTP_ADDRESS: httpAddress = '', TEMPORAL_NAMESPACE: namespace } = stack.env;
    const server = { httpAddress, namespace };
    const queue = hostQueue(stack.worker.hostId);
    const inputs = { inspect: { taskId: id }, preview: { taskId: id, snapshot: {} }, readDiff: { taskId: id } };
    for (const [question, input] of Object.entries(inputs)) {
      const asked = callNexus(server, {
        taskQueue: queue,
        service: hostService,
        operation: question,
        input,
        withinMs: 10_000,
      });
      await expect(asked).rejects.toMatchObject({ status: 403, unanswered: false });
      const path = `namespaces/${namespace}/task-queues/${encodeURIComponent(queue)}/nexus-services/${hostService}/${question}`;
      for (const host of [httpAddress, 'localhost', 'attacker.example']) {
        const page = { host, 'content-type': 'application/json', origin: 'https://attacker.example' };
        const headers = { ...page, 'nexus-request-id': randomUUID() };
        const url = `http://${httpAddress}/${path}`;
        const { status, text } = await sendRequest({ url, method: 'POST', headers, body: JSON.stringify(input) });
        expect([question, status]).toEqual([question, 403]);
        expect(text).not.toContain('worktree');
      }
    }
    expect([await started('launchPreview'), await started('worktreeInspection')]).toEqual(before);
  });
});
