import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorktreeFences, type WorktreeFences } from '../../../../activities/worktree/fences';
import { createLog } from '../../../../platform/log/log';
import { identifySelf, isSameProcess, type ProcessIdentity } from '../../../../platform/processes/identity';
import { eventually } from '../../../../platform/testing/eventually';
import type { Fence } from '../../../../providers/git/fence';
import type { Baseline } from '../../../../providers/git/git';
import type { Database } from '../../../../stores/port/collection';
import { createWorktreeStore, type WorktreeStore } from '../../../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../../../stores/sqlite/database';
import type { LateRequest } from '../../../support/git/late-holder';
import { aWorktree as aManifest } from '../../../support/git/worktrees';
import { aWorktree, commit, contents, type GitFixture, put, sh } from '../git-fixture';

const taskId = 'task_20260101_asleep';
const log = createLog({ name: 'test', level: 'silent' });
let at: GitFixture;
let database: Database;
let worktrees: WorktreeStore;
let fences: WorktreeFences;
let storeFile: string;
let fencesDir: string;
let attempts = 0;

beforeEach(async () => {
  at = await aWorktree();
  storeFile = join(at.directory.path, 'store.sqlite');
  fencesDir = join(at.directory.path, 'fences');
  database = await openSqlite({ file: storeFile, log });
  worktrees = await createWorktreeStore(database);
  fences = createWorktreeFences({ worktrees, dir: fencesDir, self: await identifySelf() });
  await worktrees.insert(aManifest(taskId, { state: 'ready' }));
});
afterEach(async () => {
  await database.close();
  await at.directory.remove();
});

/** Leases the worktree to the next attempt, and returns its id. */
async function nextAttempt(): Promise<string> {
  attempts += 1;
  const ownerAttemptId = `attempt_asleep${String(attempts).padStart(4, '0')}`;
  const manifest = (await worktrees.get(taskId))!;
  await worktrees.change(manifest, { lease: { ...manifest.lease, ownerAttemptId } }, new Date().toISOString());
  return ownerAttemptId;
}

/** An attempt of which a worker was lost in the middle of its work. */
async function lostAttempt(): Promise<Baseline> {
  const attemptId = await nextAttempt();
  const baseline = await at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
  await put(at.worktree, { 'src/a.txt': `by ${attemptId}\n`, [`${attemptId}.txt`]: 'committed\n' });
  await commit(at.worktree, 'Half');
  await put(at.worktree, { 'src/b.txt': `by ${attemptId}\n`, 'left.txt': 'untracked\n' });
  return baseline;
}

async function reclaim(baseline: Baseline, fence: Fence): Promise<void> {
  const git = at.git.under(fence);
  await git.preserveAttempt({ worktreePath: at.worktree, attemptId: baseline.attemptId, baseline });
  await git.restoreBaseline({ worktreePath: at.worktree, baseline });
}

const take = async (attemptId: string): Promise<Fence> =>
  (await fences.take(taskId, { attemptId, stage: 'reclaim' })) ?? Promise.reject(new Error('It is not its any more.'));

/** Everything that a late holder could have changed. */
const stateNow = async () => ({
  refs: await sh(at.repository, 'for-each-ref', '--format=%(refname) %(objectname)'),
  head: await sh(at.worktree, 'symbolic-ref', 'HEAD'),
  index: await sh(at.worktree, 'ls-files', '--stage'),
  files: await contents(at.worktree),
});

/** Another worker brings the attempt to its end, and the next one has done its work: that is what has to stay. */
async function finishElsewhere(baseline: Baseline) {
  await reclaim(baseline, await take(baseline.attemptId));
  const next = await nextAttempt();
  await fences.take(taskId, { attemptId: next, stage: 'run' });
  await put(at.worktree, { 'src/a.txt': `by ${next}\n`, 'src/new.txt': `by ${next}\n` });
  await commit(at.worktree, 'Whole');
  await put(at.worktree, { 'notes.txt': `by ${next}\n` });
  return stateNow();
}

/** A token whose holder falls asleep right after it was found valid for the nth time. */
function asleepAt(fence: Fence, nth: number) {
  let asked = 0;
  let wake: () => void = () => undefined;
  let fellAsleep: () => void = () => undefined;
  const awake = new Promise<void>((resolve) => (wake = resolve));
  const asleep = new Promise<void>((resolve) => (fellAsleep = resolve));
  const holds = async () => {
    const held = await fence.holds();
    asked += 1;
    if (asked === nth) {
      fellAsleep();
      await awake;
    }
    return held;
  };
  return { fence: { ...fence, holds }, asleep, wake };
}

describe('a worker that reclaims and falls asleep', () => {
  it('changes nothing of what came after it, wherever it wakes', async () => {
    let points = 0;
    for (let isThrough = false; !isThrough; points += 1) {
      const baseline = await lostAttempt();
      const pausedHolder = asleepAt(await take(baseline.attemptId), points + 1);
      const late = reclaim(baseline, pausedHolder.fence).then(
        () => 'done',
        (error: unknown) => (error as { code?: string }).code,
      );
      isThrough = (await Promise.race([late, pausedHolder.asleep])) === 'done';
      const wanted = await finishElsewhere(baseline);
      pausedHolder.wake();
      expect(await late).toBe(isThrough ? 'done' : 'fenced');
      expect(await stateNow()).toEqual(wanted);
    }
    expect(points).toBeGreaterThan(15);
  });

  it('is refused a token of an earlier stage, of an attempt that gave its worktree back, and any lock', async () => {
    const attemptId = await nextAttempt();
    const first = await take(attemptId);
    expect(await fences.take(taskId, { attemptId, stage: 'prepare' })).toBeUndefined();
    expect(await fences.take(taskId, { attemptId, stage: 'run' })).toBeUndefined();
    const [lock] = first.locks;
    const second = await take(attemptId);
    expect([await first.holds(), await second.holds()]).toEqual([false, true]);
    expect(lock!.sequence).toBeLessThan(second.locks[0]!.sequence);
    await nextAttempt();
    expect(await second.holds()).toBe(false);
    expect(await fences.take(taskId, { attemptId, stage: 'reclaim' })).toBeUndefined();
  });

  it('continues above what is on the disk when the stores have lost what they handed out', async () => {
    const attemptId = await nextAttempt();
    const before = await take(attemptId);
    await database.close();
    database = await openSqlite({ file: join(at.directory.path, 'restored.sqlite'), log });
    worktrees = await createWorktreeStore(database);
    fences = createWorktreeFences({ worktrees, dir: fencesDir, self: await identifySelf() });
    const lease = { leaseId: 'lease', ownerAttemptId: attemptId, seconds: 60, expiresAt: '2026-11-21T00:09:00.000Z' };
    await worktrees.insert(aManifest(taskId, { state: 'ready', lease }));
    await take(attemptId);
    const after = await take(attemptId);
    expect(after.locks[0]!.sequence).toBeGreaterThan(before.locks[0]!.sequence);
    expect(await after.holds()).toBe(true);
  });
});

describe('SIGSTOP of a process that reclaims', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
    }
  });

  function startLate(baseline: Baseline, stopAt: number, path = process.env.PATH ?? '') {
    const request: LateRequest = {
      storeFile,
      fencesDir,
      taskId,
      stopAt,
      baseline,
      settingsDir: join(at.directory.path, 'settings'),
      worktreePath: at.worktree,
    };
    const support = join(__dirname, '../../../support');
    const args = [
      '-r',
      join(support, 'register-ts.cjs'),
      join(support, 'git', 'late-holder.ts'),
      JSON.stringify(request),
    ];
    const child = spawn(process.execPath, args, { env: { ...process.env, PATH: path } });
    children.push(child);
    let printed = '';
    child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
    const ended = new Promise<string>((resolve) => child.once('close', () => resolve(printed)));
    return { child, ended };
  }
  const isStopped = (pid: number) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

  it('between two steps, two of them at a time, leaves what came after them', async () => {
    const baseline = await lostAttempt();
    // The second one takes the worktree from the first, and is as late as that.
    const points = [1 + Math.floor(Math.random() * 6), 7 + Math.floor(Math.random() * 10)];
    const late: ReturnType<typeof startLate>[] = [];
    for (const point of points) {
      const one = startLate(baseline, point);
      await eventually(() => expect(isStopped(one.child.pid!)).toBe(true));
      late.push(one);
    }
    const wanted = await finishElsewhere(baseline);
    for (const { child } of [...late].reverse()) {
      child.kill('SIGCONT');
    }
    expect({ points, ends: await Promise.all(late.map(({ ended }) => ended)) }).toEqual({
      points,
      ends: ['fenced', 'fenced'],
    });
    expect(await stateNow()).toEqual(wanted);
  });

  it.each(['update-ref --no-deref refs/heads/', 'read-tree --reset -u', 'clean -fdq'])(
    'in the middle of git %s ends that git with its holder',
    async (command) => {
      const baseline = await lostAttempt();
      const bin = join(at.directory.path, 'sleeping-git');
      await mkdir(bin);
      const real = process.env.PATH ?? '';
      // Its own process is what the next holder ends: it replaces itself by git once it is woken.
      const script = `#!/bin/sh
case "$*" in *'${command}'*) echo $$ >'${bin}/pid.draft' && mv '${bin}/pid.draft' '${bin}/pid'; kill -STOP $$ ;; esac
PATH='${real}' exec git "$@"
`;
      await writeFile(join(bin, 'git'), script);
      await chmod(join(bin, 'git'), 0o755);
      const late = startLate(baseline, 0, `${bin}:${real}`);
      const pid = await eventually(async () => Number(await readFile(join(bin, 'pid'), 'utf8')));
      await eventually(() => expect(isStopped(pid)).toBe(true));
      const stopped: ProcessIdentity = { ...(await identifySelf()), ...startOf(pid) };
      late.child.kill('SIGSTOP');
      const wanted = await finishElsewhere(baseline);
      expect(await isSameProcess(stopped)).toBe(false);
      late.child.kill('SIGCONT');
      expect(await late.ended).not.toBe('done');
      expect(await stateNow()).toEqual(wanted);
    },
  );
});

function startOf(pid: number): { pid: number; startTime: string } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return { pid, startTime: fields[19] ?? '' };
}
