import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Libsql from 'libsql';
import { lastHours, readDigest } from '../api/system/digest/read';
import {
  readComparison,
  readRuns,
  readTaskCosts,
  readTokens,
  readTrends,
  readUtilization,
} from '../api/system/metrics/read';
import { inTurn } from '../api/system/metrics/scan';
import type { Period } from '../contracts/period';
import type { TelemetryEvent } from '../contracts/system/telemetry';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';
import { openSqlite } from '../stores/sqlite/database';
import { createTelemetryStore } from '../stores/system/telemetry-store';

/**
 * What statistics and digests of many events take, beside SQL over a table of the same events by the driver alone:
 * `node dist/bench/metrics.js [events]`.
 */
const total = Number(process.argv[2] ?? 100_000);
const spanMs = 30 * 86_400_000;
const atATime = 1_000;

type Store = Awaited<ReturnType<typeof createTelemetryStore>>;

async function fill(telemetry: Store): Promise<void> {
  const end = Date.now();
  for (let made = 0; made < total; made += atATime) {
    const part = Array.from({ length: Math.min(atATime, total - made) }, (_, index) => {
      const n = made + index;
      const run = Math.floor(n / 2);
      const about = {
        taskId: `task_20260101_${run % 5_000}`,
        attemptId: `attempt_${String(run).padStart(10, '0')}`,
        agent: `agent-${run % 20}`,
        timestamp: new Date(end - spanMs + (n * spanMs) / total).toISOString(),
      };
      return n % 2 === 0
        ? telemetry.record({
            type: 'run.tokens',
            ...about,
            model: 'm',
            inputTokens: n % 900,
            outputTokens: 1,
            cost: 0.01,
          })
        : telemetry.record({
            type: 'run.completed',
            ...about,
            durationMs: (n * 7_919) % 600_000,
            success: run % 10 > 0,
          });
    });
    await Promise.all(part);
  }
}

interface Cost {
  seconds: number;
  cpuSeconds: number;
  /** The longest time for which nothing else had its turn, in milliseconds. */
  pauseMs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const used = process.cpuUsage(cpu);
  delay.disable();
  return {
    seconds: (performance.now() - begun) / 1_000,
    cpuSeconds: (used.user + used.system) / 1_000_000,
    pauseMs: delay.max / 1_000_000,
  };
}

/** The floor: sums and counts of all events of a type by SQL, over a table with a column for each of their numbers. */
function openBare(file: string): Record<string, () => unknown> {
  const database = new Libsql(file);
  database.exec(
    'CREATE TABLE bare (type TEXT, agent TEXT, input INTEGER, cost REAL, duration INTEGER, success INTEGER)',
  );
  const insert = database.prepare('INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)');
  database.exec('BEGIN');
  for (let n = 0; n < total; n += 1) {
    const run = Math.floor(n / 2);
    const type = n % 2 === 0 ? 'run.tokens' : 'run.completed';
    insert.run(type, `agent-${run % 20}`, n % 900, 0.01, (n * 7_919) % 600_000, run % 10 > 0 ? 1 : 0);
  }
  database.exec('COMMIT');
  const tokens = database.prepare(
    "SELECT agent, sum(input), sum(cost) FROM bare WHERE type = 'run.tokens' GROUP BY agent",
  );
  const runs = database.prepare(
    "SELECT agent, count(*), avg(duration), sum(success) FROM bare WHERE type = 'run.completed' GROUP BY agent",
  );
  return { 'SQL alone, tokens by agent': () => tokens.all(), 'SQL alone, runs by agent': () => runs.all() };
}

async function main(): Promise<void> {
  const directory = await makeTempDir('metrics');
  const log = createLog({ name: 'bench', level: 'silent' });
  const database = await openSqlite({ file: join(directory.path, 'bench.sqlite'), log });
  const telemetry = await createTelemetryStore(database);
  await fill(telemetry);
  const now = new Date();
  const to = new Date(now.getTime() + 1).toISOString();
  const period: Period = { name: 'all', from: null, to, timeZone: 'Europe/Berlin' };
  const empty = { list: () => ({ tasks: [], total: 0 }) };
  // Of a board without tasks, nothing else is called.
  const context = { telemetry, now: () => now, board: empty as never };
  const questions: [string, () => Promise<unknown>][] = [
    ['runs, duration', () => readRuns(context, { period })],
    ['tokens', () => readTokens(context, { period })],
    ['trends', () => readTrends(context, { period })],
    ['task-cost', () => readTaskCosts(context, { period }, 50)],
    ['utilization', () => readUtilization(context, { period })],
    ['agents/comparison', () => readComparison(context, { period }, 3)],
    ['digest of a day', () => readDigest(context, { period: lastHours(24, now) })],
    ['digest of a month', () => readDigest(context, { period: lastHours(24 * 30, now) })],
  ];
  const types: TelemetryEvent['type'][] = ['run.tokens', 'run.completed'];
  console.log(`${total} events, half of each: ${types.join(', ')}`);
  console.log('| statistic | s | CPU s | longest pause, ms | resident, MB | answered after s |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const bare = openBare(join(directory.path, 'bare.sqlite'));
  for (const [name, ask] of Object.entries(bare)) {
    questions.push([name, async () => ask()]);
  }
  for (const [name, ask] of questions) {
    const { seconds, cpuSeconds, pauseMs } = await costOf(ask);
    const memory = Math.round(process.memoryUsage().rss / 1_048_576);
    const times = [seconds, cpuSeconds].map((one) => one.toFixed(2)).join(' | ');
    // As it is asked over HTTP, where an answer has its time.
    const answered = await costOf(() => inTurn('bench', ask));
    const shown = [pauseMs.toFixed(0), memory, answered.seconds.toFixed(2)].join(' | ');
    console.log(`| ${name} | ${times} | ${shown} |`);
  }
  await database.close();
  await directory.remove();
}

void main();
