import type { TransitionGate } from '../../../contracts/settings/transition-hook';
import { Caller, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const adminKey = 'the-key-of-the-administrator-of-the-test';

describe('gates of transition rules on runs', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ BOARD_AUTH_ENABLED: 'true', BOARD_ADMIN_KEY: adminKey });
    stack.call = new Caller(stack.url, { 'x-api-key': adminKey });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([scriptAgent('as-told')]);
  });
  afterAll(() => stack.close());
  afterEach(() => stack.call.ok('PATCH', '/api/settings/transition-hooks', { enabled: false }));

  const taskOf = (id: string) => stack.call.ok('GET', `/api/tasks/${id}`);
  const require = (to: string, ...gates: TransitionGate[]) =>
    stack.call.ok('PUT', '/api/settings/transition-hooks', {
      enabled: true,
      rules: [
        { id: 'gates', name: 'Gates', from: '*', to, gates },
        { id: 'start', name: 'Start', from: '*', to: 'in-progress', actions: ['auto-start-timer'] },
        { id: 'stop', name: 'Stop', from: 'in-progress', to: ['done', 'blocked'], actions: ['auto-stop-timer'] },
      ],
    });
  const aTold = (status: string, fields: object = {}) =>
    stack.call.createTask({
      title: 'Told',
      description: JSON.stringify({ files: { 'a.txt': 'a' }, commit: 'Work', result: { status, summary: 'Done.' } }),
      git: { repo: 'sample' },
      ...fields,
    });
  const run = async (id: string) => {
    await stack.call.start(id, { agent: 'as-told' });
    return (await stack.call.ended(id)).attempt;
  };

  test('a success whose gate fails leaves the task blocked with the reason, and its timer stopped', async () => {
    await require('done', 'require-closing-comment', 'require-agent');
    const { id } = await aTold('success');
    expect((await run(id)).completion).toMatchObject({ status: 'success' });
    const blocked = await taskOf(id);
    expect(blocked).toMatchObject({
      status: 'blocked',
      blockedReason: { category: 'prerequisite', note: expect.stringContaining('require-closing-comment') },
      attempt: { result: 'success' },
      timeTracking: { isRunning: false, entries: [{ endTime: expect.any(String) }] },
    });
    await stack.call.ok('POST', `/api/tasks/${id}/comments`, { text: 'The work of the run is what was asked for.' });
    expect(await stack.call.ok('PATCH', `/api/tasks/${id}`, { status: 'done' })).toMatchObject({ status: 'done' });
  });

  test('an end that is no success is written down, whatever the gates of the status it leads to', async () => {
    await require('blocked', 'require-plan', 'require-blocker-reason');
    const { id } = await aTold('blocked');
    await run(id);
    expect(await taskOf(id)).toMatchObject({ status: 'blocked', attempt: { result: 'blocked' } });
  });

  test('a run is refused whose task may not begin, before anything is started', async () => {
    await require('in-progress', 'require-plan', 'require-agent');
    const { id } = await aTold('success');
    const refused = {
      status: 409,
      body: { code: 'RUN_NOT_READY', details: { code: 'require-plan', failedGates: ['require-plan'] } },
    };
    expect(await stack.call.post(`/api/agents/${id}/start`, { agent: 'as-told' })).toMatchObject(refused);
    expect(await taskOf(id)).toMatchObject({ status: 'todo', revision: 1 });
    await stack.call.ok('PATCH', `/api/tasks/${id}`, { plan: 'First.' });
    await run(id);
    expect(await taskOf(id)).toMatchObject({ status: 'done', timeTracking: { entries: [{}], isRunning: false } });
  });

  test('a review is not accepted, and nothing merged, while the task may not be done', async () => {
    await require('done', 'require-plan');
    const { id } = await aTold('success', { executionPolicy: { review: 'required' } });
    const { id: attemptId } = await run(id);
    const accept = () => stack.call.post(`/api/tasks/${id}/review/accept`, { attemptId, delivery: 'none' });
    expect(await accept()).toMatchObject({
      status: 409,
      body: { code: 'TRANSITION_GATES', details: { code: 'require-plan', failedGates: ['require-plan'] } },
    });
    expect(await taskOf(id)).toMatchObject({ status: 'in-progress', review: { state: 'pending' } });
    await stack.call.ok('PATCH', `/api/tasks/${id}`, { plan: 'First.' });
    expect(await accept()).toMatchObject({ status: 200 });
    expect(await taskOf(id)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
  });
});
