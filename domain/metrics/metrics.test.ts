import type { Period } from '../../contracts/period';
import type { TelemetryEvent } from '../../contracts/system/telemetry';
import type { Task } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { compareAgents } from './compare-agents';
import { RunTally } from './run-tally';
import { countTasks } from './task-counts';
import { TaskCostTally, TokenTally } from './token-tally';
import { TrendTally } from './trend-tally';
import { UtilizationTally } from './utilization-tally';
import { velocityOf } from './velocity';

const period: Period = {
  name: 'custom',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-01-05T00:00:00.000Z',
  timeZone: 'UTC',
};
const minutes = (count: number) => count * 60_000;
const run = (agent: string, timestamp: string, [success, durationMs]: [boolean, number]): TelemetryEvent => ({
  id: timestamp,
  type: 'run.completed',
  taskId: 'task_1',
  agent,
  timestamp,
  success,
  durationMs,
});
const used = (agent: string, timestamp: string, amounts: Partial<TelemetryEvent>): TelemetryEvent => ({
  id: timestamp,
  type: 'run.tokens',
  taskId: 'task_1',
  agent,
  model: 'm',
  timestamp,
  ...amounts,
});

const runs = [
  run('ant', '2026-01-01T10:00:00.000Z', [true, minutes(10)]),
  run('ant', '2026-01-01T11:00:00.000Z', [false, minutes(20)]),
  run('ant', '2026-01-02T10:00:00.000Z', [true, minutes(30)]),
  run('bee', '2026-01-02T00:30:00.000Z', [true, minutes(60)]),
];
const tokens = [
  used('ant', '2026-01-01T10:00:00.000Z', { inputTokens: 100, outputTokens: 50, cost: 0.1 }),
  used('ant', '2026-01-02T10:00:00.000Z', {
    inputTokens: 10,
    outputTokens: 5,
    cacheTokens: 7,
    totalTokens: 22,
    cost: 0.2,
  }),
  used('bee', '2026-01-02T00:30:00.000Z', { taskId: 'task_2', model: 'n', inputTokens: 1, outputTokens: 1 }),
];
const tallied = <T extends { add: (event: TelemetryEvent) => void }>(
  tally: T,
  events: readonly TelemetryEvent[],
): T => {
  events.forEach((event) => tally.add(event));
  return tally;
};

describe('run tally', () => {
  it('counts what ended, by agent', () => {
    const error = { id: 'e', type: 'run.error', agent: 'ant', timestamp: '2026-01-01T10:00:00.000Z' } as const;
    const counts = tallied(new RunTally(), [...runs, error]).runs();
    expect(counts).toEqual({
      ...{ runs: 4, successes: 3, failures: 1, errors: 1, successRate: 0.75, errorRate: 0.25, otherAgents: 0 },
      byAgent: [
        { agent: 'ant', runs: 3, successes: 2, failures: 1, errors: 1, successRate: 2 / 3, errorRate: 1 / 3 },
        { agent: 'bee', runs: 1, successes: 1, failures: 0, errors: 0, successRate: 1, errorRate: 0 },
      ],
    });
  });

  it('summarizes durations: 10, 20, 30 and 60 minutes', () => {
    expect(tallied(new RunTally(), runs).durations()).toEqual({
      ...{ runs: 4, avgMs: minutes(30), p50Ms: minutes(20), p95Ms: minutes(60), maxMs: minutes(60) },
      byAgent: [
        { agent: 'ant', runs: 3, avgMs: minutes(20), p50Ms: minutes(20), p95Ms: minutes(30), maxMs: minutes(30) },
        { agent: 'bee', runs: 1, avgMs: minutes(60), p50Ms: minutes(60), p95Ms: minutes(60), maxMs: minutes(60) },
      ],
      otherAgents: 0,
      percentiles: 'exact',
    });
  });

  it('lists a bounded number of agents, and counts all', () => {
    const many = Array.from({ length: 250 }, (_, n) => run(`agent-${n}`, '2026-01-01T10:00:00.000Z', [true, 1]));
    const counts = tallied(new RunTally(), many).runs();
    expect([counts.runs, counts.byAgent.length, counts.otherAgents]).toEqual([250, 200, 50]);
  });

  it('has no rates without runs', () => {
    expect(new RunTally().runs()).toMatchObject({ runs: 0, successRate: 0, errorRate: 0, byAgent: [] });
  });
});

describe('token tally', () => {
  it('adds up by agent and model', () => {
    const sums = tallied(new TokenTally(), tokens).tokens();
    const ant = { inputTokens: 110, outputTokens: 55, cacheTokens: 7, totalTokens: 172, cost: 0.3 };
    const bee = { inputTokens: 1, outputTokens: 1, cacheTokens: 0, totalTokens: 2, cost: 0 };
    expect(sums).toEqual({
      ...{ inputTokens: 111, outputTokens: 56, cacheTokens: 7, totalTokens: 174, cost: 0.3 },
      byAgent: [
        { agent: 'ant', ...ant },
        { agent: 'bee', ...bee },
      ],
      otherAgents: 0,
      byModel: [
        { model: 'm', ...ant },
        { model: 'n', ...bee },
      ],
      otherModels: 0,
    });
  });

  it('adds up by task, the most expensive first', () => {
    const costs = tallied(new TaskCostTally(), tokens).costs(1);
    expect(costs).toMatchObject({ totalCost: 0.3, taskCount: 2, averageCost: 0.15 });
    expect(costs.tasks).toEqual([
      { taskId: 'task_1', inputTokens: 110, outputTokens: 55, cacheTokens: 7, totalTokens: 172, cost: 0.3 },
    ]);
  });
});

describe('trend tally', () => {
  it('adds up by the days of the time zone', () => {
    const tally = tallied(new TrendTally({ ...period, timeZone: 'America/New_York' }, 0), [...runs, ...tokens]);
    tally.addTask(aTask({ createdAt: '2026-01-02T04:59:59.999Z' }));
    tally.addTask(aTask({ createdAt: '2026-01-02T05:00:00.000Z' }));
    const done = { status: 'done', createdAt: '2025-01-01T00:00:00.000Z' } as const;
    tally.addTask(aTask({ ...done, completedAt: '2026-01-03T12:00:00.000Z', updatedAt: '2026-01-04T12:00:00.000Z' }));
    tally.addTask(aTask({ ...done, updatedAt: '2026-01-04T12:00:00.000Z' }));
    const { unit, parts } = tally.trends();
    expect(unit).toBe('day');
    const fields = [
      'label',
      'runs',
      'successes',
      'totalTokens',
      'cost',
      'avgDurationMs',
      'tasksCreated',
      'tasksCompleted',
    ];
    expect(parts.map((part) => fields.map((field) => part[field as 'label']))).toEqual([
      // Until midnight in New York, which is 5:00 UTC.
      ['2025-12-31', 0, 0, 0, 0, 0, 0, 0],
      ['2026-01-01', 3, 2, 152, 0.1, minutes(30), 1, 0],
      ['2026-01-02', 1, 1, 22, 0.2, minutes(30), 1, 0],
      ['2026-01-03', 0, 0, 0, 0, 0, 0, 1],
      ['2026-01-04', 0, 0, 0, 0, 0, 0, 1],
    ]);
  });
});

describe('utilization tally', () => {
  it('counts the time of runs within the period, and divides it at midnight', () => {
    const result = tallied(new UtilizationTally(period, 0), [
      ...runs,
      // Ended after the period, and began before its end.
      run('ant', '2026-01-05T01:00:00.000Z', [true, minutes(90)]),
      // Began and ended before and after it.
      run('cow', '2025-12-31T23:00:00.000Z', [true, minutes(60)]),
      run('cow', '2026-01-05T01:00:00.000Z', [true, minutes(30)]),
    ]).utilization();
    expect(result).toMatchObject({
      periodMs: minutes(4 * 1440),
      activeMs: minutes(150),
      runs: 5,
      utilization: 150 / 5760,
    });
    expect(result.byAgent).toEqual([
      { agent: 'ant', activeMs: minutes(90), utilization: 90 / 5760, runs: 4 },
      { agent: 'bee', activeMs: minutes(60), utilization: 60 / 5760, runs: 1 },
    ]);
    expect(result.parts.map(({ label, activeMs }) => [label, activeMs])).toEqual([
      ['2026-01-01', minutes(10 + 20 + 30)],
      ['2026-01-02', minutes(30 + 30)],
      ['2026-01-03', 0],
      ['2026-01-04', minutes(30)],
    ]);
  });
});

describe('comparison of agents', () => {
  it('has those with enough runs, and the best of them', () => {
    const more = [1, 2, 3].map((n) => run('bee', `2026-01-03T0${n}:00:00.000Z`, [true, minutes(2)]));
    const compared = compareAgents(tallied(new RunTally(), [...runs, ...more]), tallied(new TokenTally(), tokens), 3);
    expect(compared).toEqual({
      minRuns: 3,
      agents: [
        {
          ...{ agent: 'bee', runs: 4, successRate: 1, avgDurationMs: minutes(16.5), p95DurationMs: minutes(60) },
          ...{ tokensPerRun: 1, costPerRun: 0, totalCost: 0 },
        },
        {
          ...{ agent: 'ant', runs: 3, successRate: 2 / 3, avgDurationMs: minutes(20), p95DurationMs: minutes(30) },
          ...{ tokensPerRun: 57, costPerRun: 0.1, totalCost: 0.3 },
        },
      ],
      omitted: 0,
      // What bee has cost is not known.
      best: { reliable: 'bee', fastest: 'bee', cheapest: 'ant' },
    });
    expect(compareAgents(tallied(new RunTally(), runs), new TokenTally(), 4)).toEqual({
      minRuns: 4,
      agents: [],
      omitted: 2,
      best: { reliable: null, fastest: null, cheapest: null },
    });
  });
});

describe('counts of tasks', () => {
  it('are of now, and of the period', () => {
    const inside = '2026-01-02T00:00:00.000Z';
    const located = (location: 'active' | 'backlog' | 'archive', fields: Partial<Task> = {}) => ({
      location,
      task: aTask({ createdAt: '2025-06-01T00:00:00.000Z', ...fields }),
    });
    const counts = countTasks(
      [
        located('active'),
        located('active', { status: 'in-progress', createdAt: period.from! }),
        located('active', { status: 'blocked', blockedReason: { category: 'prerequisite' }, createdAt: period.to }),
        located('active', { status: 'blocked' }),
        located('active', { status: 'done', completedAt: inside }),
        located('archive', { status: 'done', completedAt: inside }),
        located('archive', { status: 'done', completedAt: period.to }),
        located('backlog', { createdAt: inside }),
      ],
      period,
    );
    expect(counts).toEqual({
      ...{ period, total: 5, backlog: 1, archived: 2, created: 2, completed: 2 },
      byStatus: { todo: 1, 'in-progress': 1, blocked: 2, done: 1 },
      byBlockedReason: { prerequisite: 1, unstated: 1 },
    });
  });
});

describe('velocity', () => {
  const sprint = (name: string, { done, open = 0 }: { done: number; open?: number }): Task[] =>
    Array.from({ length: done + open }, (_, n) =>
      aTask({
        sprint: name,
        ...(n < done ? { status: 'done', completedAt: new Date(Date.UTC(2026, 0, n + 1)).toISOString() } : {}),
      }),
    );
  const order = new Map([
    ['first', 0],
    ['second', 1],
    ['third', 2],
    ['fourth', 3],
    ['now', 4],
  ]);

  it('is of finished sprints in the order of their list, with the current one apart', () => {
    const tasks = [
      ...sprint('now', { done: 1, open: 2 }),
      ...sprint('second', { done: 2 }),
      ...sprint('first', { done: 2 }),
      ...sprint('fourth', { done: 4 }),
      ...sprint('third', { done: 3 }),
      aTask({ status: 'done' }),
    ];
    const velocity = velocityOf(tasks, { order, limit: 10 });
    expect(velocity.sprints.map(({ sprint: name, completed }) => [name, completed])).toEqual([
      ['first', 2],
      ['second', 2],
      ['third', 3],
      ['fourth', 4],
    ]);
    expect(velocity).toMatchObject({ averageVelocity: 2.75, trend: 'accelerating' });
    expect(velocity.currentSprint).toEqual({
      ...{ sprint: 'now', total: 3, completed: 1, lastCompletedAt: '2026-01-01T00:00:00.000Z' },
    });
    expect(velocityOf(tasks, { order, limit: 2 })).toMatchObject({ averageVelocity: 3.5, trend: 'accelerating' });
  });

  it.each([
    [[4, 2], 'slowing'],
    [[2, 2], 'steady'],
    [[20, 19], 'steady'],
    [[3], 'steady'],
    [[], 'steady'],
    [[0, 0], 'steady'],
  ] as const)('of %j tasks is %s', (completed, trend) => {
    const names = ['first', 'second'];
    const tasks = completed.flatMap((done, at) => (done === 0 ? [] : sprint(names[at]!, { done: done })));
    expect(velocityOf(tasks, { order, limit: 10 }).trend).toBe(trend);
  });
});
