import { eventually } from '../../../platform/testing/eventually';
import type { RunningWorker } from '../../../worker/start';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let latest: RunningWorker;

beforeAll(async () => {
  stack = await startStack({ BOARD_DRAIN_MS: '60000' });
  latest = stack.worker;
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([scriptAgent('worker-bee', '20', '100')]);
});
afterAll(() => stack.close());

/** A task whose agent works for two seconds. */
const aTask = (): Promise<{ id: string }> => stack.call.createTask({ title: 'Work', git: { repo: 'sample' } });
const isWorking = (taskId: string) =>
  eventually(async () => expect((await stack.call.status(taskId)).lastSequence).toBeGreaterThan(2));

describe('the drain of a worker', () => {
  test('a worker that is asked to end finishes what runs, and its host takes nothing new until another one is there', async () => {
    const { id: before } = await aTask();
    await stack.call.start(before);
    await stack.call.ended(before);
    const { id: running } = await aTask();
    const first = await stack.call.start(running);
    await isWorking(running);
    const closing = latest.close();
    // The worktree of its task is on the host that takes no work now.
    const waiting = await eventually(async () => {
      const answer = await stack.call.start(before);
      if (answer.status !== 'queued') {
        await stack.call.ok('POST', `/api/agents/${before}/stop`, answer);
      }
      expect(answer).toMatchObject({ status: 'queued', limitingScopes: [{ scope: 'host' }] });
      return answer;
    });
    await closing;
    latest = await stack.anotherWorker({ BOARD_DRAIN_MS: '300' });
    const ended = await stack.call.ended(running);
    expect(ended).toMatchObject({ attemptId: first.attemptId, attempt: { completion: { status: 'success' } } });
    expect(await stack.call.ok('GET', `/api/agents/${running}/recovery`)).toBeNull();
    const { attempt } = await stack.call.ended(before);
    expect(attempt).toMatchObject({ completion: { status: 'success' } });
    expect((await stack.call.status(before)).attemptId).toBe(waiting.attemptId);
  });

  test('what has not finished when the time is up is handed to recovery, and succeeds elsewhere', async () => {
    const { id } = await aTask();
    const { attemptId } = await stack.call.start(id);
    await isWorking(id);
    const startedAt = performance.now();
    const closing = latest.close();
    const next = stack.anotherWorker({ BOARD_DRAIN_MS: '0' });
    await closing;
    expect(performance.now() - startedAt).toBeGreaterThan(300);
    latest = await next;
    const ended = await eventually(async () => {
      const status = await stack.call.ended(id);
      expect(status.attemptId).not.toBe(attemptId);
      return status;
    });
    expect(ended.attempt.completion.status).toBe('success');
    expect(await stack.call.ok('GET', `/api/agents/${id}/recovery`)).toMatchObject({
      attemptId,
      failureClass: 'transient-transport',
      state: 'launched',
    });
  });

  test('asked to hurry, it does not wait for its agents', async () => {
    const patient = await stack.anotherWorker({ BOARD_DRAIN_MS: '600000' });
    const others = latest.close();
    await others;
    const { id } = await aTask();
    await stack.call.start(id);
    await isWorking(id);
    const closing = patient.close();
    patient.skipDrain();
    await closing;
    latest = await stack.anotherWorker();
  });
});
