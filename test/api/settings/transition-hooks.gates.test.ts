import type { TransitionGate } from '../../../contracts/settings/transition-hook';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

type Status = 'done' | 'blocked';

/** How a task comes to lack what a gate requires, and to have it. */
interface Need {
  to: Status;
  lacking?: object;
  lack?: (id: string) => Promise<unknown>;
  meet: (id: string) => Promise<unknown>;
}

describe('gates of transition rules', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const ok = async (method: string, path: string, body?: object) => {
    const answer = await board.call(method, path, { body });
    expect({ ...answer, isSuccess: answer.status < 300 }).toMatchObject({ isSuccess: true });
    return answer.body;
  };
  const task = async (id: string) => (await board.call('GET', `/api/tasks/${id}`)).body;
  const patch = (id: string, fields: object) => ok('PATCH', `/api/tasks/${id}`, fields);
  const rules = (gate: TransitionGate, to: string) =>
    ok('PUT', '/api/settings/transition-hooks', {
      enabled: true,
      rules: [{ id: 'one', name: 'One', from: '*', to, gates: [gate] }],
    });

  const subtask = { title: 'Open', completed: false };
  const needs: Record<TransitionGate, Need> = {
    'require-agent': { to: 'done', meet: (id) => patch(id, { agent: 'bee' }) },
    'require-plan': { to: 'done', meet: (id) => patch(id, { plan: 'First.' }) },
    'require-verification-complete': {
      to: 'done',
      lack: (id) => ok('POST', `/api/tasks/${id}/verification`, { description: 'Look' }),
      meet: async (id) => {
        const [{ id: step }] = (await task(id)).verificationSteps;
        return ok('PATCH', `/api/tasks/${id}/verification/${step}`, { checked: true });
      },
    },
    'require-time-tracked': { to: 'done', meet: (id) => ok('POST', `/api/tasks/${id}/time/entry`, { duration: 60 }) },
    'require-closing-comment': {
      to: 'done',
      meet: (id) => ok('POST', `/api/tasks/${id}/comments`, { text: 'It was done as it was planned.' }),
    },
    'require-subtasks-complete': {
      to: 'done',
      lacking: { subtasks: [subtask] },
      meet: async (id) => {
        const [{ id: step }] = (await task(id)).subtasks;
        return ok('PATCH', `/api/tasks/${id}/subtasks/${step}`, { completed: true });
      },
    },
    'require-blocker-reason': { to: 'blocked', meet: (id) => patch(id, { blockedReason: { category: 'other' } }) },
  };

  /** Every way in which a caller changes a status; answers the refusal, if there is one. */
  const ways: Record<string, (id: string, to: Status) => Promise<{ refused: unknown }>> = {
    'a patch': async (id, status) => {
      const { status: http, body } = await board.call('PATCH', `/api/tasks/${id}`, { body: { status } });
      return { refused: http === 200 ? undefined : body.details.code };
    },
    'a bulk change of the status': (id, status) => bulk(id, { status }),
    'a bulk change of fields': (id, status) => bulk(id, { updates: { status, sprint: '7' } }),
    'a patch in the backlog': async (id, status) => {
      await ok('POST', `/api/tasks/${id}/demote`);
      const { status: http, body } = await board.call('PATCH', `/api/backlog/${id}`, { body: { status } });
      await board.call('POST', `/api/backlog/${id}/promote`, {});
      return { refused: http === 200 ? undefined : body.details.code };
    },
  };
  const bulk = async (id: string, change: object) => {
    const { failed } = await ok('POST', '/api/tasks/bulk-update', { ids: [id], ...change });
    const [first] = failed as { error: string }[];
    const gate = (Object.keys(needs) as TransitionGate[]).find((one) => first?.error.includes(`${one}: `));
    return { refused: first === undefined ? undefined : (gate ?? first.error) };
  };

  const table = Object.entries(needs).flatMap(([gate, need]) =>
    Object.entries(ways).map(([way, change]) => [gate as TransitionGate, way, need, change] as const),
  );

  it.each(table)('%s refuses %s until it is met', async (gate, _way, { to, lacking, lack, meet }, change) => {
    await rules(gate, to);
    const { id } = await board.createTask(lacking);
    await lack?.(id);
    expect(await change(id, to)).toEqual({ refused: gate });
    expect((await task(id)).status).toBe('todo');
    await meet(id);
    expect(await change(id, to)).toEqual({ refused: undefined });
  });

  const onCreation = Object.entries(needs).filter(([, { lack }]) => !lack);
  it.each(onCreation)('%s refuses a new task that would have the status at once', async (gate, { to, lacking }) => {
    await rules(gate as TransitionGate, to);
    const before = (await board.call('GET', '/api/tasks/counts')).body;
    const refused = await board.call('POST', '/api/tasks', { body: { title: 'New', status: to, ...lacking } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', details: { code: gate } } });
    expect((await board.call('GET', '/api/tasks/counts')).body).toEqual(before);
  });

  it('refuse the last subtask that would complete its task', async () => {
    await rules('require-plan', 'done');
    const { id, subtasks } = await board.createTask({ autoCompleteOnSubtasks: true, subtasks: [subtask] });
    const complete = () =>
      board.call('PATCH', `/api/tasks/${id}/subtasks/${subtasks[0]!.id}`, { body: { completed: true } });
    expect(await complete()).toMatchObject({ status: 400, body: { details: { code: 'require-plan' } } });
    expect(await task(id)).toMatchObject({ status: 'todo', subtasks: [{ completed: false }] });
    await patch(id, { plan: 'First.' });
    expect((await complete()).status).toBe(200);
    expect((await task(id)).status).toBe('done');
  });

  it('refuse a promotion that would open a task again', async () => {
    const { id } = await board.createTask({ status: 'blocked', blockedReason: { category: 'other' } });
    await ok('POST', `/api/tasks/${id}/demote`);
    await rules('require-plan', 'todo');
    const promote = () => board.call('POST', `/api/backlog/${id}/promote`);
    expect(await promote()).toMatchObject({ status: 400, body: { details: { code: 'require-plan' } } });
    expect((await board.call('GET', `/api/backlog/${id}`)).body).toMatchObject({ status: 'blocked' });
    await ok('PATCH', `/api/backlog/${id}`, { plan: 'First.' });
    expect((await promote()).status).toBe(200);
  });

  it('name every gate that failed, and leave a trace', async () => {
    await ok('PUT', '/api/settings/transition-hooks', {
      enabled: true,
      rules: [{ id: 'both', name: 'Both', from: '*', to: 'done', gates: ['require-plan', { type: 'require-agent' }] }],
      defaultGates: ['require-time-tracked'],
    });
    const { id } = await board.createTask();
    const { body } = await board.call('PATCH', `/api/tasks/${id}`, { body: { status: 'done' } });
    const failedGates = ['require-time-tracked', 'require-plan', 'require-agent'];
    expect(body.details).toMatchObject({
      code: failedGates[0],
      failedGates,
      issues: failedGates.map((code) => ({ path: 'status', code })),
    });
    const trace = (await board.call('GET', `/api/governance/traces/${body.details.traceId}`)).body;
    expect(trace).toMatchObject({ kind: 'workflow-gate', outcome: 'blocked', subject: { taskId: id } });
  });

  it('judge the task with what the same change brings', async () => {
    await rules('require-plan', 'done');
    const { id } = await board.createTask();
    expect((await patch(id, { status: 'done', plan: 'As it was done.' })).status).toBe('done');
  });

  it('start and stop the timer with the change', async () => {
    const on = (to: string, action: string) => ({ id: to, name: to, from: '*', to, actions: [action] });
    const timers = [on('in-progress', 'auto-start-timer'), on('done', 'auto-stop-timer')];
    await ok('PUT', '/api/settings/transition-hooks', { enabled: true, rules: timers });
    const { id, revision } = await board.createTask();
    const started = await patch(id, { status: 'in-progress' });
    expect(started).toMatchObject({ revision: revision + 1, timeTracking: { isRunning: true, entries: [{}] } });
    expect(await patch(id, { status: 'done' })).toMatchObject({
      revision: revision + 2,
      timeTracking: { isRunning: false },
    });
  });
});
