import { ScheduleNotFoundError } from '@temporalio/client';
import { messageUnproven } from '../../../platform/crypto/message-proof-shape';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { listSchedules } from '../../../workflows/clients/listed-schedules';
import { boardQueue } from '../../../workflows/queues';
import { deliverableScheduleId } from '../../../workflows/scheduled-deliverable/messages';
import { reconcileScheduledDeliverables } from '../../../workflows/scheduled-deliverable/reconcile-client';
import { type Stack, startStack } from '../../support/stack/stack';
import { refused } from '../agents/forged-fixture';

let stack: Stack;

const path = '/api/deliverables';
const define = (fields: object = {}) =>
  stack.call.ok('POST', path, { name: 'Weekly report', description: 'What was done.', schedule: 'weekly', ...fields });
const scheduleOf = (id: string) => stack.temporal.schedule.getHandle(deliverableScheduleId(id));
const runsOf = (id: string) => stack.call.ok('GET', `${path}/${id}/runs`);
const runNow = (id: string) => stack.call.post(`${path}/${id}/run`);
const runWhen = (id: string, expected: object) =>
  eventually(
    async () => {
      const [run] = await runsOf(id);
      expect(run).toMatchObject(expected);
      return run;
    },
    { withinMs: 60_000 },
  );

describe('scheduled deliverables', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  });
  afterAll(() => stack.close());

  it('has a Schedule with its times, its overlap policy and its catch-up', async () => {
    const fields = { schedule: 'custom', cronExpr: '30 7 * * 1-5', timezone: 'Europe/Berlin', tags: ['ops'] };
    const { id, revision } = await define({ ...fields, overlapPolicy: 'buffer-one', catchUpMinutes: 60 });
    const { policies, state, spec, info } = await scheduleOf(id).describe();
    expect(policies).toMatchObject({ overlap: 'BUFFER_ONE', catchupWindow: 3_600_000 });
    expect(state).toMatchObject({ paused: false, note: `revision ${revision}` });
    expect(spec.timezone).toBe('Europe/Berlin');
    const hourInBerlin = new Intl.DateTimeFormat('en', { hour: 'numeric', hour12: false, timeZone: 'Europe/Berlin' });
    expect(info.nextActionTimes.slice(0, 3).map((time) => hourInBerlin.format(time))).toEqual(['07', '07', '07']);
    expect(await stack.call.ok('GET', `${path}?tag=ops`)).toMatchObject([{ id, enabled: true, lastRun: null }]);
    expect(await stack.call.ok('GET', `${path}?enabled=false`)).toEqual([]);
  });

  it('begins no run in the name of a person for a client of Temporal', async () => {
    const { id } = await define({});
    const runId = 'recurring_run_0123456789ab';
    const begin = { trigger: 'manual', startedBy: 'user:olivia' };
    const forged = stack.temporal.workflow.execute('scheduledDeliverable', {
      workflowId: `scheduled-deliverable/${id}/forged`,
      taskQueue: boardQueue,
      args: [id, { runId, begin }],
    });
    expect(await refused(forged)).toBe(messageUnproven);
    expect(await runsOf(id)).toEqual([]);
  });

  it('counts fortnights from a Monday', async () => {
    const { id } = await define({ schedule: 'biweekly' });
    const [first, second] = (await scheduleOf(id).describe()).info.nextActionTimes;
    expect([first!.getUTCDay(), first!.getUTCHours()]).toEqual([1, 9]);
    expect(second!.getTime() - first!.getTime()).toBe(14 * 86_400_000);
  });

  it('without an agent makes a task, and is due until it is reported', async () => {
    const { id } = await define({ outputPath: 'reports/week.md', project: 'ops' });
    const { status, body } = await runNow(id);
    expect(status).toBe(202);
    const run = await runWhen(id, { id: body.runId, status: 'due', trigger: 'manual', attemptId: null });
    const task = await stack.call.ok('GET', `/api/tasks/${run.taskId}`);
    expect(task).toMatchObject({ status: 'todo', project: 'ops', createdBy: run.startedBy });
    expect(task.title).toMatch(/^Weekly report \(\d{4}-\d\d-\d\d\)$/);
    expect(task.description).toContain('reports/week.md');
    const report = { runId: run.id, status: 'success', outputFile: 'reports/week.md', summary: 'Quiet.' };
    expect(await stack.call.ok('POST', `${path}/${id}/runs`, report)).toMatchObject({ id: run.id, status: 'success' });
    expect((await stack.call.post(`${path}/${id}/runs`, report)).status).toBe(409);
    expect(await stack.call.ok('GET', `${path}/${id}`)).toMatchObject({ lastRun: { summary: 'Quiet.' } });
  });

  it('records the run of a reporter', async () => {
    const { id } = await define();
    const report = { status: 'failed', error: 'No data.', durationMs: 5_000, snapshotMetadata: { rows: 0 } };
    const made = await stack.call.ok('POST', `${path}/${id}/runs`, { ...report, sourceRunId: 'nightly-7' });
    expect(made).toMatchObject({ ...report, trigger: 'report', taskId: null });
    expect(Date.parse(made.endedAt) - Date.parse(made.startedAt)).toBe(5_000);
    expect(await runsOf(id)).toEqual([made]);
    for (const wrong of [{ status: 'due' }, { status: 'success', error: 'No.' }, { status: 'failed', runId: 'x' }]) {
      expect((await stack.call.post(`${path}/${id}/runs`, wrong)).status).toBe(400);
    }
    const { status } = await stack.call.post(
      `${path}/${id}/runs`,
      '{"status":"failed","snapshotMetadata":{"__proto__":1}}',
    );
    expect(status).toBe(400);
  });

  it('launches its agent on the task, and ends with it', async () => {
    const { id } = await define({ agent: 'elsewhere' });
    await runNow(id);
    const { taskId, attemptId, startedBy } = await eventually(async () => {
      const run = await runWhen(id, { status: 'running' });
      expect(run.attemptId).not.toBeNull();
      return run;
    });
    expect(await stack.call.ok('GET', `/api/admission/${attemptId}`)).toMatchObject({
      request: { source: 'scheduled', taskId },
    });
    const busy = await runNow(id);
    expect(busy).toMatchObject({ status: 409, body: { code: 'SCHEDULED_DELIVERABLE_BUSY' } });
    // The Schedule itself starts nothing beside it either.
    await scheduleOf(id).trigger();
    await runWhen(id, { status: 'skipped', trigger: 'schedule' });

    const { entries } = await stack.call.ok('GET', `/api/audit?action=run.start&resource=${attemptId}`);
    expect(entries).toMatchObject([{ actor: startedBy }]);
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    await eventually(
      async () => {
        const ended = (await runsOf(id)).find((run: { attemptId: string }) => run.attemptId === attemptId);
        expect(ended).toMatchObject({ status: 'failed', error: expect.stringMatching(/./) });
      },
      { withinMs: 60_000 },
    );
  });

  it('records why a launch was refused', async () => {
    const { id } = await define({ agent: 'nobody' });
    await runNow(id);
    await runWhen(id, { status: 'failed', error: expect.stringMatching(/^[A-Z_]+: /) });
  });

  it('refuses times that cannot be or never come, and fields that do not fit together', async () => {
    const refused = async (fields: object) => {
      const { status, body } = await stack.call.post(path, {
        name: 'Bad',
        description: '',
        schedule: 'daily',
        ...fields,
      });
      return [status, body.details?.issues?.[0]?.path];
    };
    expect(await refused({ schedule: 'custom', cronExpr: '61 * * * *' })).toEqual([400, 'cronExpr']);
    expect(await refused({ schedule: 'custom', cronExpr: '0 0 31 2 *' })).toEqual([400, 'cronExpr']);
    expect(await refused({ schedule: 'custom', cronExpr: '@every 1s' })).toEqual([400, 'cronExpr']);
    expect(await refused({ schedule: 'custom' })).toEqual([400, 'cronExpr']);
    expect(await refused({ cronExpr: '0 3 * * *' })).toEqual([400, 'cronExpr']);
    expect(await refused({ timezone: 'Mars/Olympus' })).toEqual([400, 'timezone']);
    expect(await refused({ schedule: 'biweekly', timezone: 'Europe/Berlin' })).toEqual([400, 'timezone']);
    expect(await refused({ outputPath: '../../etc/passwd' })).toEqual([400, 'outputPath']);
    expect(await refused({ repo: 'nowhere' })).toEqual([400, 'repo']);
    // The list of schedules is behind the schedules: one that was removed may be in it for a moment.
    await eventually(async () => {
      const checks: string[] = [];
      for await (const { scheduleId } of stack.temporal.schedule.list()) {
        checks.push(...(scheduleId.includes('check-') ? [scheduleId] : []));
      }
      expect(checks).toEqual([]);
    });
  });

  it('is paused, resumed and changed at a revision', async () => {
    const { id } = await define({ schedule: 'custom', cronExpr: '0 3 * * *' });
    const paused = await stack.call.ok('PATCH', `${path}/${id}`, { enabled: false, expectedRevision: 1 });
    expect(paused).toMatchObject({ enabled: false, revision: 2 });
    expect((await scheduleOf(id).describe()).state).toMatchObject({ paused: true, note: 'revision 2' });
    expect(await runNow(id)).toMatchObject({ status: 409, body: { code: 'SCHEDULED_DELIVERABLE_PAUSED' } });
    expect((await stack.call.send('PATCH', `${path}/${id}`, { enabled: true, expectedRevision: 1 })).status).toBe(409);
    const changed = await stack.call.ok('PATCH', `${path}/${id}`, { enabled: true, schedule: 'daily' });
    expect(changed).toMatchObject({ enabled: true, schedule: 'daily', revision: 3 });
    expect(changed.cronExpr).toBeUndefined();
    expect((await scheduleOf(id).describe()).state).toMatchObject({ paused: false, note: 'revision 3' });
    expect(
      (await stack.call.send('DELETE', `${path}/${id}`, undefined, { 'if-match': '"scheduled-deliverables:x:1"' }))
        .status,
    ).toBe(400);
    await stack.call.ok('DELETE', `${path}/${id}`);
    await expect(scheduleOf(id).describe()).rejects.toThrow(ScheduleNotFoundError);
    expect((await stack.call.get(`${path}/${id}`)).status).toBe(404);
    expect((await stack.call.get(`${path}/${id}/runs`)).status).toBe(404);
  });

  it('is reconciled with its Schedule, and its lost runs continue', async () => {
    const [lost, stale, deleted] = [await define(), await define({ agent: 'elsewhere' }), await define()];
    await scheduleOf(lost.id).delete();
    await scheduleOf(stale.id).update((before) => ({ ...before, state: { paused: true, note: 'revision 0' } }));
    const { runId } = (await runNow(stale.id)).body;
    const workflow = stack.temporal.workflow.getHandle(`scheduled-deliverable/${stale.id}/${runId}`);
    await eventually(async () => expect((await runsOf(stale.id))[0].attemptId).not.toBeNull());
    await workflow.terminate('lost');

    const run = { _id: runId, deliverableId: stale.id, workflow: `scheduled-deliverable/${stale.id}/${runId}` };
    await eventually(async () => {
      await reconcileScheduledDeliverables(stack.temporal, (await listSchedules(stack.temporal))('local'), {
        scheduledDeliverables: { list: async () => [lost, stale] },
        deliverableRuns: {
          async *running() {
            yield run as never;
          },
        },
        log: createLog({ name: 'test', level: 'silent' }),
      });
      await expect(scheduleOf(deleted.id).describe()).rejects.toThrow(ScheduleNotFoundError);
    });
    expect((await scheduleOf(lost.id).describe()).state).toMatchObject({ paused: false, note: 'revision 1' });
    expect((await scheduleOf(stale.id).describe()).state).toMatchObject({ paused: false, note: 'revision 1' });
    expect((await stack.temporal.workflow.getHandle(run.workflow).describe()).status.name).toBe('RUNNING');
    const [{ taskId, attemptId }] = await runsOf(stale.id);
    expect((await stack.call.ok('GET', `/api/agents/${taskId}/attempts`)).attempts).toHaveLength(1);
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    await runWhen(stale.id, { id: runId, status: 'failed' });
  });
});
