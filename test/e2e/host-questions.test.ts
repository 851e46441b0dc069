import { startApi, type RunningApi } from '../../api/start';
import { createLog } from '../../platform/log/log';
import { Caller, scriptAgent, type Answer } from '../support/caller';
import { aRepository } from '../support/repository';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let without: RunningApi;

beforeAll(async () => {
  stack = await startStack();
  const log = createLog({ name: 'test', level: 'error' });
  without = await startApi({ ...stack.env, TEMPORAL_HTTP_ADDRESS: undefined }, log, stack.temporal);
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([scriptAgent('worker-bee')]);
});

afterAll(async () => {
  await without.close();
  await stack.close();
});

const started = async (type: string) => (await stack.temporal.workflow.count(`WorkflowType = "${type}"`)).count;

/** A worktree without the time at which it was looked at. */
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
});
