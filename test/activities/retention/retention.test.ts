import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createRecordRetentionActivities } from '../../../activities/retention/records';
import { createSpoolRetentionActivities } from '../../../activities/retention/spools';
import { createTaskRetentionActivities } from '../../../activities/retention/tasks';
import type { Features } from '../../../contracts/settings/settings';
import type { RetentionReport } from '../../../contracts/system/retention';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type Board, createBoard } from '../../../stores/board-files/board';
import { createTraceStore } from '../../../stores/governance/trace-store';
import type { Database } from '../../../stores/port/collection';
import { type AttemptRecord, createAttemptStore } from '../../../stores/runs/attempt-store';
import { createRunEventStore } from '../../../stores/runs/event-store';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { createWorkflowRunStore, type WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import { openSqlite } from '../../../stores/sqlite/database';
import { createAuditStore } from '../../../stores/system/audit-store';
import { createFeedStore } from '../../../stores/system/feed-store';
import { createAttachmentStore } from '../../../stores/tasks/attachment-store';

const log = createLog({ name: 'test', level: 'silent' });
const dayMs = 86_400_000;
let directory: TempDir;
let database: Database;
let board: Board;
let aheadMs: number;
let kept: Features['retention'];
const now = () => new Date(Date.now() + aheadMs);
const settings = async () => kept;

beforeEach(async () => {
  aheadMs = 0;
  kept = { archivedTaskDays: null, runEventDays: null, traceDays: 90, spoolHours: 24, workflowRunDays: null };
  directory = await makeTempDir('retention');
  database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
  board = await createBoard({ dir: join(directory.path, 'tasks'), log });
});
afterEach(async () => {
  await board.close();
  await database.close();
  await directory.remove();
});

/** Runs an activity as a worker does. */
const asActivity = (work: () => Promise<RetentionReport>): Promise<RetentionReport> => {
  const context = { info: {}, heartbeat: () => undefined, cancellationSignal: new AbortController().signal };
  return asyncLocalStorage.run(context as unknown as Context, work);
};

async function taskPurge() {
  const [attachments, audit] = [await createAttachmentStore(database, {}, now), await createAuditStore(database)];
  const { purgeTasks } = createTaskRetentionActivities({ board, attachments, audit, settings, log, now });
  return { attachments, audit, purge: (dryRun: boolean) => asActivity(() => purgeTasks({ dryRun })) };
}

const aTask = async (): Promise<string> => (await board.create({ title: 'A task' }, { actor: 'test' })).id;
const ids = (): string[] => board.inArchive().map(({ id }) => id);

describe('tasks', () => {
  it('are purged once their purgeAfter is over, with their attachments, and not before', async () => {
    const { attachments, audit, purge } = await taskPurge();
    const [id, other] = [await aTask(), await aTask()];
    await attachments.add({ id: 'att_1', taskId: id, content: Buffer.from('a'), text: 'a' });
    await board.remove(id, { actor: 'test' });
    expect(await purge(false)).toMatchObject({ due: 0, removed: 0 });
    aheadMs = 31 * dayMs;
    expect(await purge(true)).toEqual({ kind: 'tasks', dryRun: true, due: 1, removed: 0, examples: [id] });
    expect(ids()).toEqual([id]);
    expect(await purge(false)).toMatchObject({ due: 1, removed: 1, examples: [id] });
    expect(ids()).toEqual([]);
    expect(await attachments.released('', 10)).toMatchObject([{ _id: 'att_1', taskId: id }]);
    expect((await audit.list({ resource: id, limit: 10 })).items).toMatchObject([
      { action: 'task.purge', actor: 'system:retention' },
    ]);
    expect(await purge(false)).toMatchObject({ due: 0 });
    expect(await board.get(other)).toBeDefined();
    const again = await createBoard({ dir: join(directory.path, 'tasks'), log });
    expect(again.inArchive()).toEqual([]);
    await again.close();
  });

  it('that were only archived stay, unless a setting states for how long', async () => {
    const { purge } = await taskPurge();
    const id = await aTask();
    await board.move(id, () => ({}), { to: 'archive', actor: 'test', operation: 'archive' });
    aheadMs = 400 * dayMs;
    expect(await purge(false)).toMatchObject({ due: 0 });
    kept.archivedTaskDays = 365;
    expect(await purge(false)).toMatchObject({ due: 1, removed: 1 });
    expect(await board.get(id)).toBeUndefined();
  });

  it('that were restored after they were counted stay', async () => {
    const id = await aTask();
    await board.remove(id, { actor: 'test' });
    const restored = () => board.move(id, () => ({ deletedAt: undefined }), { to: 'active', ...restoring });
    const restoring = { actor: 'test', operation: 'restore', evenDeleted: true };
    await restored();
    expect(await board.purge(id, async () => true)).toBe(false);
    expect((await board.get(id))?.location).toBe('active');
  });
});

async function recordPurge() {
  const attempts = await createAttemptStore(database);
  const events = await createRunEventStore(database, await createFeedStore(database));
  const traces = await createTraceStore(database);
  const hosts = await createHostStore(database);
  const workflowRuns = await createWorkflowRunStore(database);
  return {
    workflowRuns,
    attempts,
    events,
    traces,
    ...createRecordRetentionActivities({ attempts, events, traces, hosts, workflowRuns, settings, now }),
  };
}

describe('records', () => {
  it('of runs keep the event of their end, and take no other', async () => {
    const { attempts, events, purgeRunEvents } = await recordPurge();
    const ended = { state: 'ended', endedAt: now().toISOString(), revision: 1 };
    const of = (attemptId: string) => ({ attemptId, taskId: 't', provider: 'process', agent: 'ant' });
    for (const [id, fields] of [
      ['attempt_over', ended],
      ['attempt_runs', { state: 'running', revision: 1 }],
    ] as const) {
      await attempts.create({ _id: id, taskId: 't', createdAt: now().toISOString(), ...fields } as AttemptRecord);
      await events.append(of(id), [
        { kind: 'progress', payload: { message: 'a' } },
        { kind: 'progress', payload: { message: 'b' } },
      ]);
    }
    await events.append(of('attempt_over'), [{ kind: 'run.completed', payload: {}, dedupeKey: 'terminal' }]);
    aheadMs = 8 * dayMs;
    expect(await asActivity(() => purgeRunEvents({ dryRun: false }))).toMatchObject({ due: 0 });
    kept.runEventDays = 7;
    expect(await asActivity(() => purgeRunEvents({ dryRun: true }))).toMatchObject({ due: 1, removed: 0 });
    expect(await events.read('attempt_over', 0, 10)).toHaveLength(3);
    expect(await asActivity(() => purgeRunEvents({ dryRun: false }))).toMatchObject({ due: 1, removed: 1 });
    expect(await events.read('attempt_over', 0, 10)).toMatchObject([{ kind: 'run.completed', sequence: 3 }]);
    expect(await events.read('attempt_runs', 0, 10)).toHaveLength(2);
    const late = events.append(of('attempt_over'), [{ kind: 'progress', payload: { message: 'late' } }]);
    await expect(late).rejects.toMatchObject({ code: 'RUN_ENDED' });
    expect((await attempts.get('attempt_over'))?.eventsPurgedAt).toBeDefined();
    expect(await asActivity(() => purgeRunEvents({ dryRun: false }))).toMatchObject({ due: 0 });
  });

  it('of decisions are kept for as many days as are set', async () => {
    const { traces, purgeTraces } = await recordPurge();
    const id = await traces.record({ kind: 'policy', outcome: 'allowed', title: 'a', summary: 'b' });
    aheadMs = 8 * dayMs;
    expect(await asActivity(() => purgeTraces({ dryRun: false }))).toMatchObject({ due: 0 });
    kept.traceDays = 7;
    expect(await asActivity(() => purgeTraces({ dryRun: true }))).toMatchObject({ due: 1, examples: [id] });
    expect(await traces.get(id)).toBeDefined();
    expect(await asActivity(() => purgeTraces({ dryRun: false }))).toMatchObject({ removed: 1 });
    expect(await traces.get(id)).toBeUndefined();
  });
});

describe('runs of workflows', () => {
  it('go with their stages so many days after their end, and those that have not ended stay', async () => {
    const { workflowRuns, purgeWorkflowRuns } = await recordPurge();
    const chunks = await database.collection<{ _id: string; run_id: string }>({ name: 'board-workflow-run-stages' });
    const at = new Date().toISOString();
    for (const [_id, status] of [
      ['01JZZZZZZZZZZZZZZZZZZZZZZ1', 'completed'],
      ['01JZZZZZZZZZZZZZZZZZZZZZZ2', 'running'],
    ] as const) {
      await workflowRuns.begin({ _id, status, ended_at: at, stages: [], workflow: {} } as unknown as WorkflowRunRecord);
      await chunks.insert({ _id: `${_id}/0`, run_id: _id });
    }
    aheadMs = 31 * dayMs;
    expect(await asActivity(() => purgeWorkflowRuns({ dryRun: false }))).toMatchObject({ due: 0 });
    kept.workflowRunDays = 32;
    expect(await asActivity(() => purgeWorkflowRuns({ dryRun: false }))).toMatchObject({ due: 0 });
    kept.workflowRunDays = 30;
    expect(await asActivity(() => purgeWorkflowRuns({ dryRun: true }))).toMatchObject({ due: 1, removed: 0 });
    expect(await asActivity(() => purgeWorkflowRuns({ dryRun: false }))).toMatchObject({ due: 1, removed: 1 });
    expect(await workflowRuns.get('01JZZZZZZZZZZZZZZZZZZZZZZ1')).toBeUndefined();
    expect(await workflowRuns.get('01JZZZZZZZZZZZZZZZZZZZZZZ2')).toBeDefined();
    expect((await chunks.find({ _id: { $gt: '' } })).map(({ run_id: run }) => run)).toEqual([
      '01JZZZZZZZZZZZZZZZZZZZZZZ2',
    ]);
  });
});

it('spools go once their attempts are over and nothing was written to them for a while', async () => {
  const attempts = await createAttemptStore(database);
  const agentsDir = join(directory.path, 'agents');
  const { purgeSpools } = createSpoolRetentionActivities({ attempts, agentsDir, settings, now });
  expect(await asActivity(() => purgeSpools({ dryRun: false }))).toMatchObject({ due: 0 });
  const old = new Date(Date.now() - 2 * dayMs);
  for (const [id, state] of [
    ['attempt_over', 'ended'],
    ['attempt_runs', 'running'],
    ['attempt_gone', undefined],
  ] as const) {
    await mkdir(join(agentsDir, id), { recursive: true });
    await writeFile(join(agentsDir, id, 'out'), 'x');
    await utimes(join(agentsDir, id), old, old);
    if (state) {
      await attempts.create({ _id: id, taskId: 't', state, createdAt: 'x', revision: 1 } as AttemptRecord);
    }
  }
  kept.spoolHours = 72;
  expect(await asActivity(() => purgeSpools({ dryRun: false }))).toMatchObject({ due: 0 });
  kept.spoolHours = 24;
  expect(await asActivity(() => purgeSpools({ dryRun: true }))).toMatchObject({ due: 2, removed: 0 });
  expect(await asActivity(() => purgeSpools({ dryRun: false }))).toMatchObject({ due: 2, removed: 2 });
  expect(['attempt_over', 'attempt_runs', 'attempt_gone'].map((id) => existsSync(join(agentsDir, id)))).toEqual([
    false,
    true,
    false,
  ]);
});
