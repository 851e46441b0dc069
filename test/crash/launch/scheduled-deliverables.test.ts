import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { deliverableScheduleId } from '../../../workflows/scheduled-deliverable/messages';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { goalKillPoints } from '../../support/processes/goal-kill-points';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

let files: TempDir;
let points: KillPoints;
let service: Service;
let connection: Connection;
let temporal: Client;

const path = '/api/deliverables';
const report = { name: 'Report', description: 'Steps.', schedule: 'daily', repo: 'sample' };
const agent = { agent: 'worker-bee', outputPath: 'step-1.txt' };
const define = (fields: object, key: string) =>
  service.call.ok('POST', path, { ...report, ...fields }, { 'Idempotency-Key': key });
const scheduleOf = (id: string) => temporal.schedule.getHandle(deliverableScheduleId(id));
const stateOf = (id: string) =>
  eventually(async () => (await scheduleOf(id).describe()).state, { withinMs: 90_000, everyMs: 500 });

describe('kill -9 in the middle of a scheduled deliverable', () => {
  beforeAll(async () => {
    files = await makeTempDir('deliverables');
    points = await goalKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    connection = await Connection.connect({ address: service.temporalAddress });
    temporal = new Client({ connection });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([scriptAgent('worker-bee')]);
  });
  afterAll(async () => {
    await connection.close();
    await service.close();
    await files.remove();
  });

  it('of the API between a record and its Schedule is made good by the next worker that starts', async () => {
    await points.arm('before follow');
    await expect(define({ name: 'Lost' }, 'lost-create')).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    killPart(service, 'worker');
    const [{ id }] = await persistently(() => service.call.ok('GET', path));
    expect(await stateOf(id)).toMatchObject({ paused: false, note: 'revision 1' });

    await points.arm('before follow');
    await expect(service.call.ok('PATCH', `${path}/${id}`, { enabled: false })).rejects.toThrow();
    killPart(service, 'worker');
    const paused = await persistently(() => service.call.ok('GET', `${path}/${id}`));
    expect(paused).toMatchObject({ enabled: false, revision: 2 });
    await eventually(async () => expect(await stateOf(id)).toMatchObject({ paused: true, note: 'revision 2' }), {
      withinMs: 90_000,
    });

    await points.arm('before drop');
    await expect(service.call.ok('DELETE', `${path}/${id}`)).rejects.toThrow();
    killPart(service, 'worker');
    await eventually(async () => expect(scheduleOf(id).describe()).rejects.toThrow(), { withinMs: 90_000 });
    expect((await persistently(() => service.call.get(`${path}/${id}`))).status).toBe(404);
  });

  it('of the API before a Schedule makes one record for a caller who repeats the request', async () => {
    await points.arm('before follow');
    await expect(define({ name: 'Repeated' }, 'repeated-create')).rejects.toThrow();
    const { id } = await persistently(() => define({ name: 'Repeated' }, 'repeated-create'));
    expect(await service.call.ok('GET', path)).toMatchObject([{ id }]);
    expect(await stateOf(id)).toMatchObject({ paused: false, note: 'revision 1' });
  });

  it.each([
    ['after its record', 'after beginDeliverableRun'],
    ['before its task', 'before create'],
    ['after its task', 'after create'],
    ['before the launch', 'before launch'],
    ['after the launch', 'after launch'],
    ['before its end is recorded', 'before observeDeliverableAgent'],
    ['after its end is recorded', 'after observeDeliverableAgent'],
  ])('of the worker %s makes one task, one run and one result', async (_when, step) => {
    const { id } = await define(agent, `run-${step.replaceAll(' ', '-')}`);
    await points.arm(step);
    const { runId } = await service.call.ok('POST', `${path}/${id}/run`);
    await eventually(() => expect(points.isReached()).toBe(true), { withinMs: 60_000 });
    const runs = await eventually(
      async () => {
        const all = await service.call.ok('GET', `${path}/${id}/runs`);
        expect(all).toMatchObject([{ id: runId, status: 'success', outputFile: 'step-1.txt', summary: 'did 3 steps' }]);
        return all;
      },
      { withinMs: 90_000 },
    );
    const { tasks } = await service.call.ok('GET', `/api/tasks?q=${encodeURIComponent('Report')}&limit=1000`);
    const own = tasks.filter(({ description }: { description: string }) => description.includes(runId));
    expect(own.map((task: { id: string }) => task.id)).toEqual([runs[0].taskId]);
    const { attempts } = await service.call.ok('GET', `/api/agents/${runs[0].taskId}/attempts`);
    // One whose worker was killed is retried, as any run is.
    expect(attempts.filter(({ retryNumber }: { retryNumber: number }) => retryNumber === 0)).toHaveLength(1);
    expect(runs[0].attemptId).toBe(attempts[0].id);
  });
});
