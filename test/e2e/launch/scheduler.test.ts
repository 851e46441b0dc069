import { eventually } from '../../../platform/testing/eventually';
import { deliverableScheduleId } from '../../../workflows/scheduled-deliverable/messages';
import { launchScheduleId } from '../../../workflows/scheduled-launch/messages';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let deliverable: string;
let launch: string;

const path = '/api/scheduler';
const item = (id: string) => stack.call.ok('GET', `${path}/items/${id}`);
const act = (id: string, verb: string) => stack.call.post(`${path}/items/${id}/${verb}`);

describe('scheduler', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    const daily = { name: 'Report', description: '', schedule: 'daily' };
    deliverable = (await stack.call.ok('POST', '/api/deliverables', daily)).id;
    const taskId = (await stack.call.createTask({ title: 'Again', agent: 'elsewhere' })).id;
    const launched = { taskId, spec: { everyMinutes: 60 } };
    launch = (await stack.call.ok('POST', '/api/scheduled-launches', launched)).id;
  });
  afterAll(() => stack.close());

  it('shows both kinds with their Schedules', async () => {
    expect(await stack.call.ok('GET', path)).toMatchObject({
      summary: { total: 2, enabled: 2, byKind: { 'scheduled-deliverable': 1, 'scheduled-launch': 1 } },
      items: [
        { id: deliverable, kind: 'scheduled-deliverable', name: 'Report', schedule: 'daily', enabled: true },
        { id: launch, kind: 'scheduled-launch', schedule: 'every 60 minutes', enabled: true },
      ],
      recentEvents: [],
    });
    const first = await stack.call.ok('GET', `${path}?limit=1`);
    expect(first.items).toMatchObject([{ id: deliverable }]);
    const second = await stack.call.ok('GET', `${path}?limit=1&cursor=${first.nextCursor}`);
    expect(second.items).toMatchObject([{ id: launch }]);
    for (const id of [deliverable, launch]) {
      const { synchronized, nextRuns, counts } = await item(id);
      expect({ synchronized, counts }).toEqual({
        synchronized: true,
        counts: { started: 0, missed: 0, overlapping: 0 },
      });
      expect(nextRuns).toHaveLength(10);
    }
    expect((await stack.call.get(`${path}/items/recurring_000000000000`)).status).toBe(404);
    expect((await stack.call.get(`${path}/items/queue-monitor`)).status).toBe(400);
  });

  it('runs both kinds, and shows it in its events', async () => {
    expect(await act(launch, 'run')).toMatchObject({ status: 202, body: { kind: 'scheduled-launch', runId: null } });
    const { body } = await act(deliverable, 'run');
    expect(body.runId).toMatch(/^recurring_run_/);
    await eventually(async () => {
      const { recentEvents } = await stack.call.ok('GET', path);
      expect(recentEvents).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ itemId: deliverable, status: 'due', runId: body.runId }),
          expect.objectContaining({ itemId: launch, status: 'running' }),
        ]),
      );
      expect(recentEvents).toHaveLength(2);
    });
    const { lastRun } = await item(launch);
    const { taskId } = await stack.call.ok('GET', `/api/scheduled-launches/${launch}`);
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId: lastRun.runId });
  });

  it('pauses and resumes both kinds with their Schedules', async () => {
    for (const [id, scheduleId] of [
      [deliverable, deliverableScheduleId(deliverable)],
      [launch, launchScheduleId(launch)],
    ] as const) {
      const isPaused = async () => (await stack.temporal.schedule.getHandle(scheduleId).describe()).state.paused;
      expect(await act(id, 'pause')).toMatchObject({ status: 200, body: { enabled: false, revision: 2 } });
      expect(await isPaused()).toBe(true);
      expect((await act(id, 'run')).status).toBe(409);
      expect((await act(id, 'pause')).body).toMatchObject({ revision: 2 });
      expect((await act(id, 'resume')).body).toMatchObject({ enabled: true, revision: 3 });
      expect(await isPaused()).toBe(false);
      expect(await item(id)).toMatchObject({ synchronized: true });
    }
  });

  it('validates what an item names, and its Schedule', async () => {
    expect((await act(deliverable, 'validate')).body).toMatchObject({ valid: true, issues: [] });
    expect((await act(launch, 'validate')).body).toMatchObject({ valid: true, issues: [] });
    const fields = { name: 'Odd', description: '', schedule: 'weekly', agent: 'nobody' };
    const { id } = await stack.call.ok('POST', '/api/deliverables', fields);
    await stack.temporal.schedule.getHandle(deliverableScheduleId(id)).delete();
    const { body } = await act(id, 'validate');
    expect(body).toMatchObject({ valid: false, issues: [{ path: 'revision' }, { path: 'agent' }], nextRuns: [] });
  });

  it('makes good what was missed, which is nothing here', async () => {
    const result = await stack.call.ok('POST', `${path}/due/run`);
    expect(result).toMatchObject({ executed: 0, overlapping: 0, skipped: 0 });
  });
});
