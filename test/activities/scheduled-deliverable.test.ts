import { join } from 'node:path';
import {
  createScheduledDeliverableActivities,
  type ScheduledDeliverableDependencies,
} from '../../activities/scheduled-deliverable/activities';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createScheduledDeliverableRunStore } from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import { openSqlite } from '../../stores/sqlite/database';

const id = 'recurring_0123456789ab';
const firstDue = '2026-10-25T00:30:00Z';
const secondDue = '2026-10-25T01:30:00Z';

/** Begins the runs that are due at these times, each at its time. @returns what became of them */
async function beginAt(times: readonly string[], timing: object): Promise<string[]> {
  const dir = await makeTempDir('scheduled-deliverable');
  const database = await openSqlite({
    file: join(dir.path, 'board.sqlite'),
    log: createLog({ name: 'test', level: 'silent' }),
  });
  try {
    let now = '';
    const definition = {
      id,
      enabled: true,
      overlapPolicy: 'allow-all',
      updatedBy: 'user:ada',
      timezone: 'Europe/Berlin',
    };
    const activities = createScheduledDeliverableActivities({
      deliverableRuns: await createScheduledDeliverableRunStore(database),
      scheduledDeliverables: { get: () => Promise.resolve({ ...definition, ...timing }) },
      now: () => new Date(now),
    } as unknown as ScheduledDeliverableDependencies);
    const statuses: string[] = [];
    for (now of times) {
      const workflow = `scheduled-deliverable/${id}-${now}`;
      statuses.push((await activities.beginDeliverableRun({ id, occurrence: now, workflow })).status);
    }
    return statuses;
  } finally {
    await database.close();
    await dir.remove();
  }
}

describe('a scheduled deliverable at the end of daylight-saving time', () => {
  const fixed = { schedule: 'custom', cronExpr: '30 2 * * *' };

  it('is run once at a time of day that clocks show twice', async () => {
    expect(await beginAt([firstDue, secondDue, '2026-10-26T01:30:00Z'], fixed)).toEqual([
      'running',
      'skipped',
      'running',
    ]);
  });

  it('is run at the second of these times when it was not at the first', async () => {
    expect(await beginAt(['2026-10-24T00:30:00Z', secondDue], fixed)).toEqual(['running', 'running']);
  });

  it('is run in both hours when it is due every hour', async () => {
    const hourly = { schedule: 'custom', cronExpr: '30 * * * *' };
    expect(await beginAt([firstDue, secondDue], hourly)).toEqual(['running', 'running']);
  });
});
