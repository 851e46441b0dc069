import { existsSync } from 'node:fs';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

/** Heartbeats, which notify a worker of a cancellation, come later than any of these tests waits. */
const BOARD_HEARTBEAT_TIMEOUT_MS = '3600000';

let stack: Stack;

describe('stop of a run', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_HEARTBEAT_TIMEOUT_MS });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('worker-bee', '1000', '100'),
      { ...scriptAgent('worker-bee', '1000', '100'), type: 'kept-bee', reattach: true },
    ]);
  });
  afterAll(() => stack.close());

  test.each(['worker-bee', 'kept-bee'])('%s is ended at once when a caller stops it', async (agent) => {
    const task = await stack.call.createTask({ title: agent, git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(task.id, { agent });
    await eventually(async () => expect((await stack.call.status(task.id)).lastSequence).toBeGreaterThan(2));
    const [started] = await stack.call.events(task.id, attemptId);
    const stopped = await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
    expect(stopped).toMatchObject({ attemptId, status: 'interrupted' });
    expect(existsSync(`/proc/${started.payload.pid}`)).toBe(false);
  });

  test('so is one that has only just been started', async () => {
    const task = await stack.call.createTask({ title: 'Regretted', git: { repo: 'sample' } });
    for (let n = 0; n < 5; n += 1) {
      const { attemptId } = await stack.call.start(task.id, { agent: 'worker-bee' });
      const stopped = await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
      expect(stopped).toMatchObject({ attemptId, status: 'interrupted' });
    }
  });
});
