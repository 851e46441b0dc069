import fc from 'fast-check';
import type { Period } from '../../contracts/period';
import type { Task } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { boardMetricsOf } from './board-metrics';
import { timelineOf } from './timeline';
import { concurrencyOf, lengthOf, union, workOn } from './work';

const at = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const period: Period = { name: 'custom', from: at(0), to: at(10), timeZone: 'UTC' };
const bounds = { from: Date.parse(at(0)), to: Date.parse(at(10)) };
const now = Date.parse(at(9));
const entry = (from: number, to?: number) => ({
  id: `time_${from}`,
  startTime: at(from),
  ...(to === undefined ? {} : { endTime: at(to) }),
});
const tracked = (id: string, entries: ReturnType<typeof entry>[]) =>
  aTask({ id, title: id, timeTracking: { entries }, createdAt: at(-5) });
const worksOf = (tasks: Task[]) => tasks.flatMap((task) => workOn(task, bounds, now) ?? []);

/** 2 hours before, and 1 to 4; 3 to 5 by status; 8 until now; none at all; after the period. */
const tasks = [
  { ...tracked('task_a', [entry(-2, -1), entry(1, 3), entry(2, 4)]), agent: 'ant' },
  {
    ...aTask({ id: 'task_b', createdAt: at(1), startedAt: at(3), completedAt: at(5), status: 'done' }),
    agent: 'ant',
  },
  tracked('task_c', [entry(8)]),
  aTask({ id: 'task_d', createdAt: at(2) }),
  tracked('task_e', [entry(11, 12)]),
];

describe('timeline', () => {
  const timeline = timelineOf(worksOf(tasks), period, 10);

  it('has the work of each task within the period', () => {
    expect(
      timeline.tasks.map(({ id, startTime, endTime, durationSeconds }) => [id, startTime, endTime, durationSeconds]),
    ).toEqual([
      ['task_a', at(-2), at(4), 3 * 3_600],
      ['task_b', at(3), at(5), 2 * 3_600],
      ['task_c', at(8), undefined, 3_600],
    ]);
    expect(timeline.tasks[0]?.timeEntries.map(({ startTime }) => startTime)).toEqual([at(1), at(2)]);
  });

  it('has how many tasks were worked on at a time: 6 hours of work within 8', () => {
    expect(timeline.parallelism.map(({ timestamp, taskIds }) => [timestamp, taskIds])).toEqual([
      [at(1), ['task_a']],
      [at(3), ['task_a', 'task_b']],
      [at(4), ['task_b']],
      [at(5), []],
      [at(8), ['task_c']],
      [at(9), []],
    ]);
    expect(timeline.summary).toEqual({
      ...{ totalTasks: 3, maxConcurrency: 2, averageConcurrency: 6 / 8 },
      ...{ timelineStartTime: at(1), timelineEndTime: at(9) },
    });
    expect(timeline.truncated).toBe(false);
    expect(timelineOf(worksOf(tasks), period, 2)).toMatchObject({ truncated: true, summary: { totalTasks: 3 } });
  });

  it('of no work is empty', () => {
    expect(timelineOf([], period, 10)).toMatchObject({
      tasks: [],
      parallelism: [],
      summary: { totalTasks: 0, maxConcurrency: 0, averageConcurrency: 0, timelineStartTime: null },
    });
  });
});

describe('metrics of a board', () => {
  it('have throughput, lead times, agents and efficiency', () => {
    expect(boardMetricsOf(tasks, { works: worksOf(tasks), period, bounds })).toEqual({
      period,
      parallelism: { averageConcurrency: 0.75, maxConcurrency: 2, minConcurrency: 0 },
      throughput: { tasksCompleted: 1, tasksCreated: 2, averageCompletionTime: 4 * 3_600 },
      leadTime: { fromTodoToDone: 4 * 3_600, fromCreatedToStarted: 2 * 3_600, fromStartedToDone: 2 * 3_600 },
      agentUtilization: [
        {
          ...{ agent: 'ant', startTime: at(1), endTime: at(5), durationSeconds: 4 * 3_600, tasksCompleted: 1 },
          totalTaskDurationSeconds: 5 * 3_600,
        },
      ],
      efficiency: {
        ...{ totalTrackedTime: 6 * 3_600, totalTaskCount: 3, averageTimePerTask: 2 * 3_600 },
        // Hours 1 to 5 and 8 to 9 of ten.
        utilizationRate: 0.5,
      },
    });
  });

  it('have no times without completed tasks', () => {
    const { leadTime, throughput } = boardMetricsOf([], { works: [], period, bounds });
    expect([leadTime.fromStartedToDone, throughput.averageCompletionTime]).toEqual([null, null]);
  });
});

describe('concurrency of any work', () => {
  it('has the sum of all work as its average, and the maximum of any moment', () => {
    const stretch = fc
      .tuple(fc.nat(40), fc.integer({ min: 1, max: 10 }))
      .map(([from, length]) => ({ from, to: from + length }));
    const work = fc.array(stretch, { minLength: 1, maxLength: 4 }).map((stretches) => union(stretches));
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 8 }), (all) => {
        const works = all.map((stretches, index) => ({
          ...{ task: aTask({ id: `task_${index}` }), stretches, begin: 0, end: 0, isRunning: false },
        }));
        const { max, min, average, span } = concurrencyOf(works, { changes: 1_000, taskIds: 20 });
        const hours = Array.from({ length: span!.to - span!.from }, (_, index) => span!.from + index);
        const counts = hours.map(
          (hour) => all.filter((own) => own.some(({ from, to }) => hour >= from && hour < to)).length,
        );
        expect([max, min]).toEqual([Math.max(...counts), Math.min(...counts)]);
        expect(average).toBeCloseTo(counts.reduce((total, one) => total + one, 0) / hours.length);
        expect(lengthOf(union(all.flat()))).toBe(counts.filter((count) => count > 0).length);
      }),
    );
  });
});
