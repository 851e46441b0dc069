import { join } from 'node:path';
import type { Context, Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { createLog } from '../../../platform/log/log';
import { SleepWatch } from '../../../platform/processes/sleep-watch';
import { createSleepGuard, type SleepGuard, workerSlept } from '../../../platform/temporal/workers/sleep-guard';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createGit } from '../../../providers/git/git';
import { createBoard } from '../../../stores/board-files/board';
import { checkedBoard } from '../../../stores/board-files/wrappers/checked-board';
import type { Database, EntryLog, LogEntry } from '../../../stores/port/collection';
import { checkedWrites } from '../../../stores/port/wrappers/checked-writes';
import { openSqlite } from '../../../stores/sqlite/database';
import { asksAfterSleep } from '../../../worker/activities/activity-callers';
import { aRepository } from '../../support/git/repository';

const lines: { activities: string[]; sleptMs: number }[] = [];
const log = createLog({ name: 'test', level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });

let time: number;
let watch: SleepWatch;
let guard: SleepGuard;
beforeEach(() => {
  lines.length = 0;
  time = 0;
  watch = new SleepWatch(1_000, { monotonicMs: () => time, wallMs: () => 0 });
  guard = createSleepGuard({ watch, isExempt: asksAfterSleep, log });
});
afterEach(() => watch.close());

/** Runs an activity as a worker does under the guard. */
function run<T>(work: () => Promise<T>, info: Partial<Info> = {}): Promise<T> {
  const context = { info: { activityType: 'prepare', retryPolicy: { maximumAttempts: 0 }, ...info } };
  const { inbound } = guard.interceptor(context as unknown as Context);
  return inbound!.execute!({ args: [], headers: {} }, work) as Promise<T>;
}

const sleep = (): void => void (time += 5_000);
const stopped = expect.objectContaining({ type: workerSlept, nonRetryable: false });

describe('the guard of a worker that slept', () => {
  it('stops a running activity at its next step, and lets the one that follows work', async () => {
    const done: string[] = [];
    const activity = (pause: () => void) =>
      run(async () => {
        guard.assertAwake();
        done.push('first');
        pause();
        guard.assertAwake();
        done.push('second');
      });
    await expect(activity(sleep)).rejects.toEqual(stopped);
    expect(done).toEqual(['first']);
    await activity(() => undefined);
    expect(done).toEqual(['first', 'first', 'second']);
  });

  it('stops every activity that was running, and none that began afterwards', async () => {
    let wake = (): void => undefined;
    const awake = new Promise<void>((resolve) => (wake = resolve));
    const step = () => run(() => awake.then(() => guard.assertAwake()));
    const before = [step(), step()].map((each) => expect(each).rejects.toEqual(stopped));
    sleep();
    watch.look();
    const after = step();
    wake();
    await Promise.all([...before, after]);
  });

  it('fails an activity that has taken the refusal for something else', async () => {
    const activity = run(async () => {
      sleep();
      try {
        guard.assertAwake();
      } catch {
        throw ApplicationFailure.nonRetryable('It is a failure for good.');
      }
    });
    await expect(activity).rejects.toEqual(stopped);
    const swallowed = run(async () => {
      sleep();
      await Promise.reject(new Error('lost')).catch(() => undefined);
      return Promise.resolve()
        .then(() => guard.assertAwake())
        .catch(() => 'fine');
    });
    await expect(swallowed).rejects.toEqual(stopped);
  });

  it('leaves the result of an activity that has no step left', async () => {
    await expect(
      run(async () => {
        sleep();
        watch.look();
        return 'done';
      }),
    ).resolves.toBe('done');
  });

  it.each<Partial<Info>>([
    { activityType: 'reattach' },
    { activityType: 'dispatch', retryPolicy: { maximumAttempts: 1 } },
  ])('stops none that asks by itself or is never repeated: %j', async (info) => {
    await run(async () => {
      sleep();
      guard.assertAwake();
    }, info);
  });

  it('logs the activities that it stops, and no sleep during which none was running', async () => {
    sleep();
    watch.look();
    expect(lines).toEqual([]);
    await run(async () => {
      sleep();
      watch.look();
    });
    expect(lines).toEqual([expect.objectContaining({ activities: ['prepare'], sleptMs: 5_000 })]);
  });

  it('refuses nothing outside of activities, nor what an activity has left behind it', async () => {
    sleep();
    guard.assertAwake();
    let later = (): void => undefined;
    await run(async () => {
      sleep();
      watch.look();
      later = () => guard.assertAwake();
    });
    later();
  });
});

describe('the steps that are guarded', () => {
  let files: TempDir;
  let database: Database;
  beforeEach(async () => {
    files = await makeTempDir('sleep-guard');
    database = await openSqlite({ file: join(files.path, 'store.sqlite'), log });
  });
  afterEach(async () => {
    await database.close();
    await files.remove();
  });

  const afterSleep = (step: () => Promise<unknown>) =>
    run(async () => {
      sleep();
      await step();
    });

  it('are the writes of the stores', async () => {
    const checked = checkedWrites(database, guard.assertAwake);
    const collection = await checked.collection<{ _id: string; value: number }>({ name: 'things' });
    const entries: EntryLog<LogEntry> = await checked.log({ name: 'entries' });
    const notices: EntryLog<LogEntry> = await checked.log({ name: 'notices' });
    const blobs = await checked.blobs('contents');
    const notice = { log: notices, scope: 'all', entry: () => ({}) };
    const writes: (() => Promise<unknown>)[] = [
      () => collection.insert({ _id: 'b', value: 1 }),
      () => collection.findOneAndUpdate({ _id: 'a' }, { $set: { value: 2 } }),
      () => collection.updateMany({ _id: 'a' }, { $set: { value: 2 } }),
      () => collection.deleteMany({ _id: 'a' }),
      () => entries.append('s', [{}]),
      () => entries.appendWithNotice('s', [{}], notice),
      () => entries.trim('s'),
      () => blobs.put(Buffer.from('x')),
      () => blobs.remove(`sha256:${'0'.repeat(64)}`, new Date()),
    ];
    await collection.insert({ _id: 'a', value: 1 });
    for (const write of writes) {
      await expect(afterSleep(write)).rejects.toEqual(stopped);
    }
    await afterSleep(async () => expect(await collection.get('a')).toEqual({ _id: 'a', value: 1 }));
    expect(await entries.last('s')).toBe(0);
    for (const write of writes) {
      await run(write);
    }
    expect(await notices.read('all', 0, 10)).toHaveLength(1);
  });

  it('are the changes of tasks', async () => {
    const board = await createBoard({ dir: join(files.path, 'tasks'), log });
    const checked = checkedBoard(board, guard.assertAwake);
    const writer = { actor: 'agent' };
    const { id } = await run(() => checked.create({ title: 'A task' }, writer));
    const changes: (() => Promise<unknown>)[] = [
      () => checked.create({ title: 'Another' }, writer),
      () => checked.update(id, () => ({ title: 'Changed' }), writer),
      () => checked.move(id, () => ({}), { ...writer, to: 'archive', operation: 'archive' }),
      () => checked.remove(id, writer),
      () => checked.purge(id, () => Promise.resolve(true)),
    ];
    for (const change of changes) {
      await expect(afterSleep(change)).rejects.toEqual(stopped);
    }
    expect(await board.get(id)).toMatchObject({ task: { title: 'A task' }, location: 'active' });
    await board.close();
  });

  it('are the commands of git', async () => {
    const git = createGit({ log, settingsDir: join(files.path, 'git'), assertAllowed: guard.assertAwake });
    const repositoryPath = await aRepository(files.path);
    const sha = '0'.repeat(40);
    await expect(afterSleep(() => git.isAncestor({ repositoryPath, ancestor: sha, descendant: sha }))).rejects.toEqual(
      stopped,
    );
  });
});
