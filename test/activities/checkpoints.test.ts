import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkpointRun } from '../../activities/agent-run/dispatch/checkpoints';
import type { AttributedChange } from '../../contracts/runs/checkpoint';
import type { RunEventInput } from '../../contracts/runs/event';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { fileObject } from '../../providers/git/files/file-object';
import { openDatabase } from '../../stores/port/open';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { createCheckpointStore } from '../../stores/runs/workspaces/checkpoint-store';

const log = createLog({ name: 'test', level: 'silent' });
const sha = '0'.repeat(40);
const record = {
  _id: 'attempt_words00000',
  taskId: 'task_20260101_words0',
  baseline: { headSha: sha, snapshot: { commit: sha } },
} as AttemptRecord;

let files: TempDir;

describe('worktree checkpoints', () => {
  beforeEach(async () => {
    files = await makeTempDir('checkpoints');
  });
  afterEach(() => files.remove());

  const wrote = (path: string, turnId = 't1'): RunEventInput => ({
    kind: 'file.changed',
    sessionId: 's',
    turnId,
    payload: { path, status: 'modified' },
  });

  /** A run whose git reports these files as new, and nothing after that. */
  async function aRun(lateWordMs: number, ...paths: string[]) {
    const database = await openDatabase({ mongoUrl: undefined, dataDir: join(files.path, 'board'), log });
    const checkpoints = await createCheckpointStore(database);
    for (const path of paths) {
      await writeFile(join(files.path, path), `${path}\n`);
    }
    const changes = await Promise.all(
      paths.map(async (path) => {
        const after = { object: (await fileObject(files.path, path, sha))!, mode: '100644' };
        return { path, status: 'added' as const, before: null, after };
      }),
    );
    const state = { tree: sha, indexTree: sha, headSha: sha, branch: null };
    const run = checkpointRun(
      {
        checkpoints,
        events: { append: () => Promise.resolve([]) },
        git: {
          captureCheckpoint: async ({ number }) =>
            number === 1 ? { ...state, ref: 'refs/board/checkpoints/words/1', commit: sha, changes } : undefined,
        },
        checkpointEveryMs: 1,
        lateWordMs,
        log,
        now: () => new Date(),
      },
      record,
      files.path,
    );
    const receive = async (...events: RunEventInput[]) => {
      await run.received(events);
      run.appended([1]);
    };
    /** Whose each path is in the first checkpoint, once that is there. */
    const kept = () =>
      eventually(async () => {
        const first = await checkpoints.latest(record._id);
        if (!first) {
          throw new Error('There is no checkpoint.');
        }
        const reported = first.changes.map(({ path, attribution }: AttributedChange) => [path, attribution]);
        return { turn: first.turn?.turnId, changes: Object.fromEntries(reported) };
      });
    const close = async () => {
      await run.ended();
      await database.close();
    };
    return { receive, kept, run, close };
  }

  test('a change is the agent’s also when it was observed before the agent reported it', async () => {
    const { receive, kept, close } = await aRun(60_000, 'early.txt', 'late.txt');
    await receive(wrote('early.txt'));
    await receive(wrote('late.txt'));
    expect(await kept()).toEqual({ turn: 't1', changes: { 'early.txt': 'agent', 'late.txt': 'agent' } });
    await close();
  });

  test('what the agent did once more before its first word was used stays its own', async () => {
    const { receive, kept, close } = await aRun(60_000, 'a.txt', 'late.txt');
    await receive(wrote('a.txt'));
    await writeFile(join(files.path, 'a.txt'), 'something else\n');
    await receive(wrote('a.txt'), wrote('late.txt'));
    expect(await kept()).toMatchObject({ changes: { 'a.txt': 'agent', 'late.txt': 'agent' } });
    await close();
  });

  test('no word is waited for beyond its time', async () => {
    const timed = await aRun(1, 'by-hand.txt');
    await timed.receive(wrote('other.txt'));
    expect(await timed.kept()).toEqual({ turn: 't1', changes: { 'by-hand.txt': 'unknown' } });
    await timed.close();
  });

  test('no word is waited for once the run ends', async () => {
    const { receive, run, kept, close } = await aRun(60_000, 'by-hand.txt');
    await receive(wrote('other.txt'));
    await run.ended();
    expect(await kept()).toEqual({ turn: 't1', changes: { 'by-hand.txt': 'unknown' } });
    await close();
  });
});
