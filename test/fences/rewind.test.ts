import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { sourceOf } from '../../activities/shared/event-source';
import { createRewindActivities, type RewindDependencies } from '../../activities/workspace-rewind/activities';
import { createWorktreeFences, type WorktreeFences } from '../../activities/worktree/fences';
import type { WorkspaceRewind } from '../../contracts/runs/rewind';
import { checkpointIdOf } from '../../domain/checkpoints/attribution';
import { terminalKey } from '../../domain/events/seal';
import { createLog } from '../../platform/log/log';
import { identifySelf } from '../../platform/processes/identity';
import type { Baseline } from '../../providers/git/git';
import { type AttemptStore, createAttemptStore } from '../../stores/runs/attempt-store';
import { createRunEventStore, type RunEventStore } from '../../stores/runs/event-store';
import { type CheckpointStore, createCheckpointStore } from '../../stores/runs/workspaces/checkpoint-store';
import { createRewindStore, type RewindStore } from '../../stores/runs/workspaces/rewind-store';
import { createWorktreeStore, type WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../stores/sqlite/database';
import { createFeedStore } from '../../stores/system/feed-store';
import { aWorktree, commit, contents, type GitFixture, put, sh } from '../providers/git/git-fixture';
import { aCompletion, anAttempt, at, aWorktree as aManifest, taskId } from '../support/factories/records';
import { type Interleaving, interleaving } from './interleaving';

const log = createLog({ name: 'test', level: 'silent' });
let fixture: GitFixture;
let db: Interleaving;
let attempts: AttemptStore;
let worktrees: WorktreeStore;
let checkpoints: CheckpointStore;
let rewinds: RewindStore;
let events: RunEventStore;
let fences: WorktreeFences;
let number = 0;
const turn = { sessionId: 's', turnId: 't' };

describe('rewind fence', () => {
  beforeEach(async () => {
    fixture = await aWorktree();
    const dir = fixture.directory.path;
    db = interleaving(await openSqlite({ file: join(dir, 'board.sqlite'), log }));
    attempts = await createAttemptStore(db);
    worktrees = await createWorktreeStore(db);
    checkpoints = await createCheckpointStore(db);
    rewinds = await createRewindStore(db);
    events = await createRunEventStore(db, await createFeedStore(db));
    fences = createWorktreeFences({ worktrees, dir: join(dir, 'fences'), self: await identifySelf() });
    await worktrees.insert(aManifest());
  });
  afterEach(async () => {
    await db.close();
    await fixture.directory.remove();
  });

  /** Leases the worktree to the next attempt. @returns its id */
  async function nextAttempt(): Promise<string> {
    number += 1;
    const ownerAttemptId = `attempt_rewind${String(number).padStart(6, '0')}`;
    const manifest = (await worktrees.get(taskId))!;
    await worktrees.change(manifest, { lease: { ...manifest.lease, ownerAttemptId } }, at(0));
    return ownerAttemptId;
  }

  interface Rewound {
    attemptId: string;
    rewindId: string;
    baseline: Baseline;
  }

  async function aCheckpoint(attemptId: string, nth: number, { headSha }: Baseline) {
    const since = { tree: `${headSha}^{tree}`, headSha };
    const { worktree: worktreePath } = fixture;
    const captured = (await fixture.git.captureCheckpoint({ worktreePath, attemptId, number: nth, since }))!;
    await checkpoints.add({
      schemaVersion: 'workspace-checkpoint/v1',
      id: checkpointIdOf(attemptId, nth),
      taskId,
      attemptId,
      number: nth,
      parentId: nth === 1 ? null : checkpointIdOf(attemptId, nth - 1),
      turn,
      sequence: nth,
      ...captured,
      changes: [],
      truncated: false,
      createdAt: at(0),
    });
    return captured;
  }

  /** A run in the middle of which a person has begun to take its worktree back. */
  async function aRewind(): Promise<Rewound> {
    const attemptId = await nextAttempt();
    const { git, worktree: worktreePath } = fixture;
    const baseline = await git.captureBaseline({ worktreePath, attemptId });
    const workspace = { path: worktreePath };
    await attempts.create(
      anAttempt(attemptId, { state: 'running', baseline, taskEnvelope: { workspace } } as Parameters<
        typeof anAttempt
      >[1]),
    );
    await fences.take(taskId, { attemptId, stage: 'run' });
    await put(worktreePath, { 'src/a.txt': `first of ${attemptId}\n`, 'gone.txt': 'first\n' });
    await sh(worktreePath, 'add', 'src/a.txt');
    const { tree, indexTree, headSha, branch } = await aCheckpoint(attemptId, 1, baseline);
    await put(worktreePath, { 'src/a.txt': `second of ${attemptId}\n`, 'src/new.txt': 'second\n' });
    await commit(worktreePath, 'Half');
    await aCheckpoint(attemptId, 2, baseline);
    const target = { tree, indexTree, headSha, branch };
    const { before } = await git.previewRewind({ worktreePath, target });
    const rewindId = `rewind_${String(number).padStart(24, '0')}`;
    await rewinds.add({
      schemaVersion: 'workspace-rewind/v1',
      id: rewindId,
      taskId,
      attemptId,
      requestId: rewindId,
      targetCheckpointId: checkpointIdOf(attemptId, 1),
      descendantCheckpointId: checkpointIdOf(attemptId, 2),
      state: 'planned',
      before,
      target,
      turn,
      paths: [],
      pathCount: 2,
      createdBy: 'user:ada',
      createdAt: at(0),
      updatedAt: at(0),
    } as unknown as WorkspaceRewind);
    await rewinds.begin(rewindId, at(1));
    return { attemptId, rewindId, baseline };
  }

  /** @param stopAt the check of the token after which it falls asleep */
  function aWorker(stopAt = 0) {
    let asked = 0;
    let wake: () => void = () => undefined;
    let fallAsleep: () => void = () => undefined;
    const awake = new Promise<void>((resolve) => (wake = resolve));
    const asleep = new Promise<'asleep'>((resolve) => (fallAsleep = () => resolve('asleep')));
    const deps = {
      attempts,
      checkpoints,
      rewinds,
      events,
      git: fixture.git,
      audit: { record: async () => undefined },
      now: () => new Date(at(2)),
      fences: {
        async share(...args: Parameters<WorktreeFences['share']>) {
          const fence = await fences.share(...args);
          if (!fence) {
            return undefined;
          }
          const holds = async () => {
            const held = await fence.holds();
            asked += 1;
            if (asked === stopAt) {
              fallAsleep();
              await awake;
            }
            return held;
          };
          return { ...fence, holds };
        },
      },
    } as unknown as RewindDependencies;
    const { applyRewind } = createRewindActivities(deps);
    const apply = ({ rewindId, attemptId }: Rewound, tries = 1) => {
      const context = {
        info: { heartbeatTimeoutMs: 30_000, attempt: tries },
        heartbeat: () => undefined,
        cancellationSignal: new AbortController().signal,
      };
      return asyncLocalStorage.run(context as unknown as Context, () => applyRewind({ rewindId, attemptId }));
    };
    return { apply, asleep, wake };
  }

  /** Everything that a late rewind could have changed. */
  const stateNow = async ({ attemptId, rewindId }: Rewound) => ({
    refs: await sh(fixture.repository, 'for-each-ref', '--format=%(refname) %(objectname)'),
    head: await sh(fixture.worktree, 'symbolic-ref', 'HEAD'),
    index: await sh(fixture.worktree, 'ls-files', '--stage'),
    files: await contents(fixture.worktree),
    events: (await events.read(attemptId, 0, 100)).map(({ kind }) => kind),
    checkpoints: (await checkpoints.list(attemptId, 0, 100)).map(({ id }) => id),
    rewind: await rewinds.get(rewindId),
  });

  /** The run is lost and brought to its end by another worker, and the next one does its work. */
  async function finishElsewhere(rewound: Rewound) {
    const { attemptId, baseline } = rewound;
    await attempts.reclaim(attemptId, at(3));
    const fence = await fences.take(taskId, { attemptId, stage: 'reclaim' });
    const git = fixture.git.under(fence!);
    await git.preserveAttempt({ worktreePath: fixture.worktree, attemptId, baseline });
    await git.restoreBaseline({ worktreePath: fixture.worktree, baseline });
    await attempts.complete(attemptId, aCompletion('lost', 'interrupted'));
    const end = { kind: 'run.interrupted' as const, payload: {}, dedupeKey: terminalKey };
    await events.append(sourceOf((await attempts.get(attemptId))!), [end]);
    const next = await nextAttempt();
    await fences.take(taskId, { attemptId: next, stage: 'run' });
    await put(fixture.worktree, { 'src/a.txt': `by ${next}\n`, 'src/new.txt': `by ${next}\n` });
    await commit(fixture.worktree, 'Whole');
    await put(fixture.worktree, { 'notes.txt': `by ${next}\n` });
    return stateNow(rewound);
  }

  it('a rewind that falls asleep changes nothing of the next run, wherever it wakes', async () => {
    let points = 0;
    // Each of them over some runs of this test: one takes a second.
    const [first, stride] = [1 + Math.floor(Math.random() * 6), 6];
    for (let isThrough = false; !isThrough; points += 1) {
      const rewound = await aRewind();
      const point = first + points * stride;
      const { apply, asleep, wake } = aWorker(point);
      const late = apply(rewound).then(
        ({ status }) => status,
        (error: unknown) => (error as { code?: string }).code ?? error,
      );
      isThrough = (await Promise.race([late, asleep])) === 'committed';
      const wanted = await finishElsewhere(rewound);
      wake();
      expect([point, await late]).toEqual([point, isThrough ? 'committed' : 'fenced']);
      expect([point, await stateNow(rewound)]).toEqual([point, wanted]);
      // Asked again, it finds that its run is over, and the rewind has failed.
      if (!isThrough) {
        expect(await aWorker().apply(rewound, 2)).toMatchObject({ status: 'refused' });
        expect({ ...(await stateNow(rewound)), rewind: undefined }).toEqual({ ...wanted, rewind: undefined });
      }
    }
    expect(points).toBeGreaterThan(4);
  });

  it('a rewind that was tried again meanwhile is done once, by the later try', async () => {
    const rewound = await aRewind();
    const first = aWorker(4);
    const late = first.apply(rewound).catch((error: unknown) => (error as { code?: string }).code);
    expect(await Promise.race([late, first.asleep])).toBe('asleep');
    expect(await aWorker().apply(rewound, 2)).toEqual({ status: 'committed' });
    const wanted = await stateNow(rewound);
    expect(wanted).toMatchObject({ rewind: { state: 'committed' } });
    first.wake();
    expect(await late).toBe('fenced');
    expect(await stateNow(rewound)).toEqual(wanted);
  });

  it.each(['workspace-checkpoints', 'workspace-rewinds'] as const)(
    'a rewind whose run ends before its step in the %s records nothing that the run does not have',
    async (collection) => {
      const rewound = await aRewind();
      const ended: { wanted?: Awaited<ReturnType<typeof stateNow>> } = {};
      const method = collection === 'workspace-checkpoints' ? 'insert' : 'findOneAndUpdate';
      db.before(collection, method, async () => (ended.wanted = await finishElsewhere(rewound)));
      await aWorker()
        .apply(rewound)
        .catch(() => undefined);
      expect(db.isThrough).toBe(true);
      const record = { rewind: undefined, checkpoints: [] };
      expect({ ...(await stateNow(rewound)), ...record }).toEqual({ ...ended.wanted, ...record });
    },
  );
});
