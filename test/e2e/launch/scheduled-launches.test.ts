import { ScheduleNotFoundError } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { listSchedules } from '../../../workflows/clients/listed-schedules';
import { launchScheduleId } from '../../../workflows/scheduled-launch/messages';
import { reconcileLaunchSchedules } from '../../../workflows/scheduled-launch/reconcile-client';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
describe('scheduled launches', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  });
  afterAll(() => stack.close());

  const path = '/api/scheduled-launches';
  const aTask = async () => (await stack.call.createTask({ title: 'Again', agent: 'elsewhere' })).id as string;
  const define = async (fields: object = {}) =>
    stack.call.ok('POST', path, { taskId: await aTask(), spec: { cron: '0 3 * * *' }, ...fields });
  const scheduleOf = (id: string) => stack.temporal.schedule.getHandle(launchScheduleId(id));
  const outcomeOf = async (id: string) => (await stack.call.ok('GET', `${path}/${id}`)).lastOutcome;
  const trigger = (id: string) => stack.call.post(`${path}/${id}/trigger`);

  test('a definition is launched by its Schedule as its author, and a busy task is its outcome', async () => {
    const { id, taskId, createdBy, lastOutcome } = await define({ launch: { agent: 'elsewhere', phase: 'implement' } });
    expect(lastOutcome).toBeNull();
    expect((await trigger(id)).status).toBe(202);
    const first = await eventually(async () => {
      const outcome = await outcomeOf(id);
      expect(outcome).toMatchObject({ status: 'running', code: null });
      return outcome;
    });
    const { attemptId } = first;
    expect(await stack.call.ok('GET', `/api/admission/${attemptId}`)).toMatchObject({
      request: { source: 'scheduled', taskId, phase: 'implement' },
      tree: { edge: 'root', rootObjectiveId: attemptId },
    });
    const { entries } = await stack.call.ok('GET', `/api/audit?action=run.start&resource=${attemptId}`);
    expect(entries).toMatchObject([{ actor: createdBy }]);

    await trigger(id);
    await eventually(async () => expect(await outcomeOf(id)).toMatchObject({ status: 'refused', code: 'RUN_ACTIVE' }));
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  });

  test('its Schedule starts it by itself, once, when it is due', async () => {
    const { id, taskId } = await define({ spec: { everyMinutes: 1 } });
    const { spec, policies } = await scheduleOf(id).describe();
    expect(spec.intervals).toMatchObject([{ every: 60_000 }]);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 600_000 });
    await scheduleOf(id).backfill({ start: new Date(Date.now() - 60_000), end: new Date(), overlap: 'SKIP' });
    await eventually(async () => expect(await outcomeOf(id)).toMatchObject({ status: 'running' }));
    expect((await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts).toHaveLength(1);
    await stack.call.ok('DELETE', `${path}/${id}`);
  });

  test('what Temporal cannot read, what never comes, and a task that is not there, are refused', async () => {
    for (const cron of ['61 * * * *', 'when it is dark enough', '0 0 31 2 *']) {
      const bad = await stack.call.post(path, { taskId: await aTask(), spec: { cron } });
      expect(bad).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'spec.cron' }] } } });
    }
    for (const cron of ['* * * * * * *', '@every 1s']) {
      expect((await stack.call.post(path, { taskId: await aTask(), spec: { cron } })).status).toBe(400);
    }
    const { id } = await define();
    for (const cron of ['99 99 * * *', '0 0 30 2 *']) {
      const changed = await stack.call.send('PATCH', `${path}/${id}`, { spec: { cron } });
      expect(changed).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'spec.cron' }] } } });
    }
    expect(await stack.call.ok('GET', `${path}/${id}`)).toMatchObject({ revision: 1, spec: { cron: '0 3 * * *' } });
    const nowhere = await stack.call.post(path, { taskId: 'task_20260101_nobody', spec: { everyMinutes: 5 } });
    expect(nowhere.status).toBe(404);
  });

  test('a paused definition launches nothing, and a deleted one has no Schedule', async () => {
    const { id, taskId } = await define();
    const paused = await stack.call.ok('PATCH', `${path}/${id}`, { paused: true, expectedRevision: 1 });
    expect(paused).toMatchObject({ paused: true, revision: 2 });
    const stale = await stack.call.send('PATCH', `${path}/${id}`, { paused: false, expectedRevision: 1 });
    expect(stale.status).toBe(409);
    expect((await scheduleOf(id).describe()).state).toMatchObject({ paused: true, note: 'revision 2' });
    expect(await trigger(id)).toMatchObject({ status: 409, body: { code: 'SCHEDULED_LAUNCH_PAUSED' } });
    // A trigger in Temporal finds it paused as well.
    const handle = await stack.temporal.workflow.start('scheduledLaunch', {
      workflowId: `test-${id}`,
      taskQueue: 'board',
      args: [id],
    });
    expect(await handle.result()).toMatch(/paused/);
    expect((await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts).toEqual([]);
    await stack.call.ok('DELETE', `${path}/${id}`);
    await expect(scheduleOf(id).describe()).rejects.toThrow(ScheduleNotFoundError);
    expect((await stack.call.get(`${path}/${id}`)).status).toBe(404);
  });

  test('workers make Schedules match the definitions, after a loss between the two', async () => {
    const log = createLog({ name: 'test', level: 'silent' });
    const [lost, changed] = [await define(), await define()];
    await scheduleOf(lost.id).delete();
    await scheduleOf(changed.id).update((before) => ({ ...before, state: { paused: true, note: 'revision 0' } }));
    const left = await define();
    const list = async () => [lost, changed];
    await eventually(async () => {
      await reconcileLaunchSchedules(stack.temporal, (await listSchedules(stack.temporal))('local'), {
        scheduledLaunches: { list },
        log,
      });
      await expect(scheduleOf(left.id).describe()).rejects.toThrow(ScheduleNotFoundError);
    });
    expect((await scheduleOf(lost.id).describe()).state).toMatchObject({ paused: false, note: 'revision 1' });
    expect((await scheduleOf(changed.id).describe()).state).toMatchObject({ paused: false, note: 'revision 1' });
  });
});
