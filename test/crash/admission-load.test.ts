import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import type { RunningPart } from '../../platform/processes/parts/part';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { createReservationStore, type ReservationStore } from '../../stores/runs/admission/reservation-store';
import { openSqlite } from '../../stores/sqlite/database';
import { aRepository } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { partEnvironment, type Service, startService } from '../support/stack/service';
import { startWorkerProcess } from '../support/stack/worker-process';

/** `ADMISSION_LOAD_RUNS=1000` is the whole of it; a real agent, worktree and workflow each are much for a small machine. */
const launches = Number(process.env.ADMISSION_LOAD_RUNS ?? '60');
const callers = 50;
/** How long these may take on a machine that does other things besides: the more launches, the longer. */
const patienceMs = Math.max(900_000, launches * 4_000);
const limit = 6;
const settings = (witness: string) => ({ WITNESS: witness, BOARD_RUN_RETRIES: '3', BOARD_MAX_RUNS: String(limit) });

/** Leaves a line when it starts and when it ends, and does nothing else. */
const momentary = {
  type: 'momentary',
  name: 'Momentary',
  provider: 'process',
  command: '/bin/sh',
  args: [
    '-c',
    `trap '' PIPE
    echo "start $BOARD_ATTEMPT_ID" >> "$WITNESS"
    echo '{"type":"result","status":"success","summary":"done"}'
    echo "end $BOARD_ATTEMPT_ID" >> "$WITNESS"`,
  ],
  environmentKeys: ['WITNESS'],
};

let files: TempDir;
let witness: string;
let service: Service;
let others: RunningPart[];
let database: Database;
let reservations: ReservationStore;

beforeAll(async () => {
  files = await makeTempDir('admission-load');
  witness = join(files.path, 'witness');
  writeFileSync(witness, '');
  service = await startService(settings(witness));
  others = await Promise.all(
    ['second', 'third'].map((name) =>
      startWorkerProcess({
        environment: partEnvironment(service, settings(witness)),
        logFile: join(service.dataDir, 'logs', `${name}.log`),
      }),
    ),
  );
  const log = createLog({ name: 'test', level: 'error' });
  database = await openSqlite({ file: join(service.dataDir, 'runboard.sqlite'), log });
  reservations = await createReservationStore(database);
  await service.call.addRepository('sample', await aRepository(files.path));
  await service.call.configureAgents([momentary]);
  await service.call.ok('PATCH', '/api/settings/features', {
    admission: { queue: { globalLimit: launches + callers, perWorkspaceLimit: launches + callers } },
  });
});

afterAll(async () => {
  await database.close();
  await Promise.all(others.map((worker) => worker.stop(10_000)));
  await service.close();
  await files.remove();
});

interface Launched {
  taskId: string;
  attemptId: string;
  status: string;
}

/** The launches of one caller, one after another, each repeated under its key until it has a response. */
async function call(caller: number, launched: Launched[]): Promise<void> {
  for (let index = caller; index < launches; index += callers) {
    const task = await persistently(() =>
      service.call.createTask({ title: `Launch ${index}`, git: { repo: 'sample' }, executionPolicy: policy }),
    );
    const key = { 'x-idempotency-key': `admission-load-${index}` };
    launched.push(await persistently(() => service.call.start(task.id, {}, key)));
  }
}
const policy = { commitPolicy: 'forbidden' };

/** Reads the ledger all the time, and returns the most capacity ever in use. */
function watchLedger() {
  const seen = { most: 0, looks: 0, over: false };
  const watching = (async () => {
    while (!seen.over) {
      seen.most = Math.max(seen.most, (await reservations.usage()).global?.runs ?? 0);
      seen.looks += 1;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  })();
  return {
    async end() {
      seen.over = true;
      await watching;
      return seen;
    },
  };
}

/** The most that is open at once in a list of beginnings and ends. */
function maxAtOnce(changes: { at: number; by: 1 | -1 }[]): number {
  let now = 0;
  let most = 0;
  // What ends in the same millisecond as something begins is counted first: two readings of a clock are not that exact.
  for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

describe('admission under load', () => {
  test(
    `${launches} launches from ${callers} callers on three workers, two of which are killed`,
    async () => {
      const startedAt = performance.now();
      const launched: Launched[] = [];
      const ledger = watchLedger();
      const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller, launched)));
      for (const [index, worker] of others.entries()) {
        await eventually(() => expect(launched.length).toBeGreaterThan(((index + 1) * launches) / 4), {
          withinMs: patienceMs,
          everyMs: 100,
        });
        process.kill(worker.pid, 'SIGKILL');
      }
      await calling;
      const answeredAt = performance.now();

      await eventually(
        async () => {
          const { depth } = await service.call.ok('GET', '/api/admission/queue?limit=1');
          const { reservations: active } = await service.call.ok('GET', '/api/admission?state=active&limit=1');
          expect([depth.global.current, active.length]).toEqual([0, 0]);
          const { reservations: latest } = await service.call.ok('GET', '/api/admission?limit=20');
          for (const { request } of latest) {
            expect((await service.call.status(request.taskId)).state).toBe('ended');
          }
        },
        { withinMs: patienceMs, everyMs: 1_000 },
      );
      const endedAt = performance.now();

      // Each launch is one run that ended well, and was started once.
      expect(new Set(launched.map(({ attemptId }) => attemptId)).size).toBe(launches);
      const intervals: { at: number; by: 1 | -1 }[] = [];
      const attempts: string[] = [];
      for (const { taskId, attemptId } of launched) {
        const status = await persistently(() => isOver(taskId));
        expect(status.attempt.completion.status).toBe('success');
        const { attempts: all } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
        const ids: string[] = all.map(({ id }: { id: string }) => id);
        expect(ids).toContain(attemptId);
        attempts.push(...ids);
        for (const id of ids) {
          const events = await service.call.events(taskId, id);
          const ends = events.filter(({ kind }) => ['run.completed', 'run.failed', 'run.interrupted'].includes(kind));
          const starts = events.filter(({ kind }) => kind === 'run.started');
          expect([ends.length, starts.length <= 1]).toEqual([1, true]);
          if (starts.length === 0) {
            continue;
          }
          intervals.push({ at: Date.parse(starts[0].receivedAt), by: 1 });
          intervals.push({ at: Date.parse(ends[0].receivedAt), by: -1 });
        }
      }
      const started = readFileSync(witness, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('start '));
      expect(new Set(started).size).toBe(started.length);
      expect(started.length).toBeGreaterThanOrEqual(launches);
      expect(started.length).toBeLessThanOrEqual(attempts.length);

      // Usage was within the ceiling at every instant: by the log of the runs, and by the ledger, which was full for a while.
      expect(maxAtOnce(intervals)).toBeLessThanOrEqual(limit);
      const { most, looks } = await ledger.end();
      expect(most).toBe(limit);
      expect(looks).toBeGreaterThan(100);
      // No capacity is in use any more, in no scope.
      const usage = Object.values(await reservations.usage());
      expect(usage.filter((used) => used && used.runs + used.processes + used.memoryMb !== 0)).toEqual([]);
      expect(await reservations.holders()).toEqual([]);

      const seconds = (from: number, to: number) => Math.round((to - from) / 100) / 10;
      process.stderr.write(
        `${launches} launches: all answered in ${seconds(startedAt, answeredAt)} s, all ended in ` +
          `${seconds(startedAt, endedAt)} s, ${attempts.length} attempts, at most ${most} at once\n`,
      );
    },
    3 * patienceMs,
  );
});

/** The status of the task once its last attempt has ended and none is due to follow. */
async function isOver(taskId: string) {
  const status = await service.call.status(taskId);
  const recovery = await service.call.ok('GET', `/api/agents/${taskId}/recovery`);
  if (status.state !== 'ended') {
    throw new Error(`${taskId} is ${status.state}`);
  }
  if (recovery?.nextAttemptId && recovery.attemptId === status.attemptId) {
    throw new Error('a retry is due');
  }
  return status;
}
