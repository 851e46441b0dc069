import { watchRun } from '../../activities/agent-run/dispatch/watchdog';
import { sourceOf } from '../../activities/shared/event-source';
import type { RunEventInput } from '../../contracts/runs/event';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { openDatabase } from '../../stores/port/open';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { createRunEventStore } from '../../stores/runs/event-store';
import { createWatchdogStore } from '../../stores/runs/watchdog-store';
import { createFeedStore } from '../../stores/system/feed-store';

const log = createLog({ name: 'test', level: 'silent' });
/** What the watchdog reads of an attempt. */
const record = {
  _id: 'attempt_watched000',
  taskId: 'task_20260101_watch0',
  provider: 'process',
  agent: 'bee',
  agentConfig: {},
} as AttemptRecord;
const began = Date.UTC(2026, 0, 1);

let files: TempDir;

describe('progress watchdog', () => {
  beforeEach(async () => {
    files = await makeTempDir('watchdog');
  });
  afterEach(() => files.remove());

  /** What one process does with the run: it has its own connection to the stores, and ends with it. */
  async function asOneProcess<T>(work: (process: Awaited<ReturnType<typeof aProcess>>) => Promise<T>): Promise<T> {
    const database = await openDatabase({ mongoUrl: undefined, dataDir: files.path, log });
    try {
      return await work(await aProcess(database));
    } finally {
      await database.close();
    }
  }

  async function aProcess(database: Database) {
    const events = await createRunEventStore(database, await createFeedStore(database));
    const watchdog = await createWatchdogStore(database);
    const watch = watchRun(
      {
        watchdog,
        events,
        command: () => Promise.resolve({ attemptId: record._id, commandId: 'c', action: 'steer', delivered: true }),
        taskStatus: () => Promise.resolve('in-progress'),
        log,
        now: () => new Date(began),
      },
      record,
    );
    /** The agent reports that it is busy, so many seconds after the run began. */
    const busy = async (...seconds: number[]) => {
      const inputs = seconds.map((second): RunEventInput => ({
        kind: 'progress',
        payload: { message: `still busy at ${second} s` },
        receivedAt: new Date(began + second * 1_000).toISOString(),
      }));
      await watch.appended(inputs, await events.append(sourceOf(record), inputs));
    };
    const found = async () => {
      const { findings, actions } = (await watchdog.inspect(record._id, { limit: 500 })).body;
      expect(actions).toHaveLength(findings.length);
      return findings.map(({ detector, confidence, evidence }) => [detector, confidence, evidence.elapsedMs]);
    };
    return { busy, found };
  }

  test('the time without progress continues while nothing runs, and what was found before is not found again', async () => {
    await asOneProcess(async ({ busy, found }) => {
      await busy(0, 10, 20, 30);
      expect(await found()).toEqual([]);
    });
    // Two minutes are over by now: it is the events that are missing.
    await asOneProcess(async ({ busy, found }) => {
      await busy(130, 131, 132);
      expect(await found()).toEqual([]);
      await busy(133);
      expect(await found()).toEqual([['no-durable-progress', 'low', 133_000]]);
    });
    await asOneProcess(async ({ busy, found }) => {
      await busy(134);
      expect(await found()).toHaveLength(1);
    });
  });

  test('events that are there do not make up for time that has not passed', async () => {
    await asOneProcess(({ busy }) => busy(...Array.from({ length: 7 }, (_, second) => second)));
    await asOneProcess(async ({ busy, found }) => {
      await busy(100, 110, 119);
      expect(await found()).toEqual([]);
      await busy(120);
      expect(await found()).toEqual([['no-durable-progress', 'low', 120_000]]);
    });
  });
});
