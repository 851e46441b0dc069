import { runDue } from '../../../api/runs/scheduler/due';
import type { DeliverableSchedules } from '../../../workflows/scheduled-deliverable/client';
import type { DeliverableRunStart } from '../../../workflows/scheduled-deliverable/messages';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
const missed = new Map<string, number>();
const started: [string, DeliverableRunStart][] = [];

/** Schedules that have missed so many times. */
const schedules = {
  describe: async (id: string) => ({ info: { numActionsMissedCatchupWindow: missed.get(id) ?? 0 } }),
  start: async (id: string, run: DeliverableRunStart) => void started.push([id, run]),
} as Partial<DeliverableSchedules> as DeliverableSchedules;

const due = (mayLaunch = true) =>
  runDue({ ...board.api.context, deliverableSchedules: schedules }, { actor: 'service:ops', mayLaunch });

async function define(n: number, fields: object = {}): Promise<string> {
  const { id } = await board.api.context.scheduledDeliverables.create(`recurring_00000000000${n}`, {
    ...{ name: 'Report', description: '', schedule: 'daily', timezone: 'UTC', overlapPolicy: 'skip' },
    ...{ catchUpMinutes: 10, tags: [], enabled: true, createdBy: 'ada', updatedBy: 'ada' },
    ...fields,
  });
  return id;
}

describe('scheduler', () => {
  beforeEach(async () => {
    board = await startTestApi();
    missed.clear();
    started.length = 0;
  });
  afterEach(() => board.close());

  it('starts one run for all times that a deliverable missed, and none again', async () => {
    const [late, punctual] = [await define(1), await define(2)];
    missed.set(late, 3);
    const first = await due();
    expect(first).toMatchObject({ checked: 2, executed: 1, skipped: 0, failed: 0, overlapping: 0 });
    expect(first.events).toMatchObject([{ itemId: late, missed: 3, result: 'executed' }]);
    const { runId } = first.events[0]!;
    expect(started).toEqual([[late, { runId, begin: { trigger: 'catch-up', startedBy: 'service:ops' } }]]);
    expect(await due()).toMatchObject({ checked: 2, executed: 0, events: [] });
    missed.set(late, 4);
    missed.set(punctual, 1);
    expect((await due()).events).toMatchObject([
      { itemId: late, missed: 1 },
      { itemId: punctual, missed: 1 },
    ]);
    // A Schedule that was lost and made again counts from nothing.
    missed.set(late, 1);
    expect((await due()).events).toMatchObject([{ itemId: late, missed: 1 }]);
  });

  it('starts the same run again when it was not recorded as started', async () => {
    const id = await define(1);
    missed.set(id, 2);
    const { runId } = (await due()).events[0]!;
    await board.api.context.schedulerMarks.remove(id);
    expect((await due()).events).toMatchObject([{ runId }]);
  });

  it('starts no paused one, none with an agent for a caller who may launch none, and none beside another run', async () => {
    const [paused, withAgent, busy] = [
      await define(1, { enabled: false }),
      await define(2, { agent: 'bee' }),
      await define(3),
    ];
    [paused, withAgent, busy].forEach((id) => missed.set(id, 1));
    await board.api.context.deliverableRuns.begin({
      ...{ _id: 'recurring_run_0000000000aa', deliverableId: busy, trigger: 'schedule', status: 'running' },
      ...{ startedAt: new Date().toISOString(), startedBy: 'ada', endedAt: null, taskId: null, attemptId: null },
      ...{ reportedBy: null, workflow: 'x' },
    });
    const result = await due(false);
    expect(result).toMatchObject({ checked: 2, executed: 0, skipped: 1, overlapping: 1 });
    expect(started).toEqual([]);
  });

  it('reports a deliverable whose Schedule cannot be read as failed', async () => {
    const id = await define(1);
    missed.set(id, 1);
    const describe = () => Promise.reject(new Error('There is none.'));
    const context = { ...board.api.context, deliverableSchedules: { ...schedules, describe } };
    const result = await runDue(context, { actor: 'service:ops', mayLaunch: true });
    expect(result).toMatchObject({ failed: 1, events: [{ itemId: id, reason: 'There is none.' }] });
  });
});
