import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Question } from '../../../services/workflow-runs/insights/messages';
import { createQueryRunner, type RunnerLimits } from '../../../services/workflow-runs/insights/query-runner';
import { noRows } from '../../../services/workflow-runs/insights/table-rows';

const runnerWith = (limits: Partial<RunnerLimits> = {}) =>
  createQueryRunner({ rows: 10, cells: 100, bytes: 1_000, timeMs: 30_000, atATime: 2, waiting: 1, ...limits });
const empty = () => Promise.resolve({ rows: noRows(), leftOut: [] });
const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';

describe('query runner', () => {
  it('ends a query when its time is up', async () => {
    const began = performance.now();
    await expect(runnerWith({ timeMs: 700 }).run(endless, empty)).rejects.toMatchObject({
      status: 400,
      message: 'The query took longer than 0.7 s.',
    });
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('ends the process of a query when the service has died', async () => {
    const script = join(__dirname, '../../../dist/services/workflow-runs/insights/query-process.js');
    const child = fork(script, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const ended = once(child, 'exit');
    const limits = { rows: 1, cells: 1, bytes: 100 };
    const question: Question = { sql: endless, tables: [], limits, endWithinMs: 500 };
    await new Promise((resolve) => child.send(question, resolve));
    child.disconnect();
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  it('ends a query that needs too much memory, and continues', async () => {
    const runner = runnerWith();
    const doubled = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30)';
    const wide = `${doubled} SELECT length(group_concat(printf('%900000000d', x))) FROM n`;
    await expect(runner.run(wide, empty)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/memory/),
    });
    const many = `${doubled} SELECT printf('%20000000d', x) FROM n`;
    await expect(runner.run(many, empty)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/memory/),
    });
    expect(await runner.run('SELECT 1', empty)).toMatchObject({ rows: [[1]] });
  });

  it('runs so many at a time, lets some wait, and refuses more', async () => {
    const runner = runnerWith({ atATime: 1, waiting: 1 });
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const first = runner.run('SELECT 1', () => gate.then(empty));
    const second = runner.run('SELECT 2', empty);
    await expect(runner.run('SELECT 3', empty)).rejects.toMatchObject({ status: 429 });
    release();
    expect((await first).rows).toEqual([[1]]);
    expect((await second).rows).toEqual([[2]]);
    expect((await runner.run('SELECT 4', empty)).rows).toEqual([[4]]);
  });

  it('passes its turn on when the tables cannot be loaded', async () => {
    const runner = runnerWith({ atATime: 1 });
    const failing = runner.run('SELECT 1', () => Promise.reject(new Error('no store')));
    const waiting = runner.run('SELECT 2', empty);
    await expect(failing).rejects.toThrow('no store');
    expect((await waiting).rows).toEqual([[2]]);
  });
});
