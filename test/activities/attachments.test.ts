import { join } from 'node:path';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createAttachmentActivities } from '../../activities/attachment-cleanup/activities';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type Board, createBoard } from '../../stores/board-files/board';
import type { Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';
import { type AttachmentStore, createAttachmentStore } from '../../stores/tasks/attachment-store';

const log = createLog({ name: 'test', level: 'silent' });
let directory: TempDir;
let database: Database;
let board: Board;
let store: AttachmentStore;
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);
describe('attachment cleanup', () => {
  beforeEach(async () => {
    offsetMs = 0;
    directory = await makeTempDir('attachments');
    database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
    board = await createBoard({ dir: join(directory.path, 'tasks'), log });
    store = await createAttachmentStore(database, {}, now);
  });
  afterEach(async () => {
    await board.close();
    await database.close();
    await directory.remove();
  });

  /** Runs the activity as a worker does. */
  const cleanUp = () => {
    const activities = createAttachmentActivities({ attachments: store, board, log, now });
    const context = { info: {}, heartbeat: () => undefined, cancellationSignal: new AbortController().signal };
    return asyncLocalStorage.run(context as unknown as Context, () => activities.cleanUpAttachments());
  };

  const aTask = async () => (await board.create({ title: 'A task' }, { actor: 'test' })).id;

  /** An attachment whose upload is interrupted after its content is stored, or after it is on its task. */
  async function interrupted(taskId: string, { onTask }: { onTask: boolean }) {
    const id = `att_${taskId.slice(-6)}${onTask ? 1 : 0}`;
    const sha256 = await store.add({ id, taskId, content: Buffer.from(id), text: undefined });
    const record = {
      id,
      filename: `${id}.txt`,
      originalName: 'a.txt',
      mimeType: 'text/plain',
      size: 1,
      hasText: false,
    };
    if (onTask) {
      await board.update(taskId, () => ({ attachments: [{ ...record, sha256 }] }), { actor: 'test' });
    }
    return { id, sha256 };
  }

  it('asks the task about uploads that were interrupted, once no request works on them any more', async () => {
    const taskId = await aTask();
    const there = await interrupted(taskId, { onTask: true });
    const lost = await interrupted(taskId, { onTask: false });
    expect(await cleanUp()).toEqual({ removed: 0, confirmed: 0 });
    offsetMs = 2 * 3_600_000;
    expect(await cleanUp()).toEqual({ removed: 1, confirmed: 1 });
    expect([await store.size(there.sha256), await store.size(lost.sha256)]).toEqual([there.id.length, undefined]);
    expect(await cleanUp()).toEqual({ removed: 0, confirmed: 0 });
  });

  it('leaves alone what cannot be decided: the task is deleted, or its file broken', async () => {
    const taskId = await aTask();
    const { sha256 } = await interrupted(taskId, { onTask: true });
    await board.remove(taskId, { actor: 'test' });
    offsetMs = 2 * 3_600_000;
    expect(await cleanUp()).toEqual({ removed: 0, confirmed: 0 });
    expect(await store.size(sha256)).toBeGreaterThan(0);
  });

  it('removes what was too young when it was deleted', async () => {
    const { id, sha256 } = await interrupted(await aTask(), { onTask: false });
    await store.release([id]);
    expect(await cleanUp()).toEqual({ removed: 0, confirmed: 0 });
    offsetMs = 120_000;
    expect(await cleanUp()).toEqual({ removed: 1, confirmed: 0 });
    expect(await store.size(sha256)).toBeUndefined();
  });
});
