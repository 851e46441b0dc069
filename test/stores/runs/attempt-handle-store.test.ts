import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Database } from '../../../stores/port/collection';
import { type AttemptHandleStore, createAttemptHandleStore } from '../../../stores/runs/attempt-handle-store';
import { openSqlite } from '../../../stores/sqlite/database';

const attemptId = 'attempt_00000000aa';
const [first, second] = [1, 2].map((pid) => ({ pid, startTime: '1', bootId: 'boot' })) as [Supervisor, Supervisor];
type Supervisor = { pid: number; startTime: string; bootId: string };

let dir: TempDir;
let database: Database;
let now: Date;
let handles: AttemptHandleStore;
beforeEach(async () => {
  dir = await makeTempDir('handles');
  database = await openSqlite({
    file: join(dir.path, 'board.sqlite'),
    log: createLog({ name: 'test', level: 'silent' }),
  });
  now = new Date('2026-01-01T00:00:00.000Z');
  handles = await createAttemptHandleStore(database, { workspaceId: 'local', kind: 'tools', now: () => now });
});
afterEach(async () => {
  await database.close();
  await dir.remove();
});

const issue = (supervisor: Supervisor, id = attemptId) => handles.issue(id, { lifetimeMs: 1_000, supervisor });

describe('handles for tools', () => {
  it('count while the process that issued them supervises the attempt', async () => {
    const handle = await issue(first);
    expect(await handles.verify(handle, first)).toBe(true);
    expect(await handles.verify(handle, second)).toBe(false);
    expect(await handles.verify(handle, { ...first, startTime: '2' })).toBe(false);
    expect(await handles.verify(handle, undefined)).toBe(false);
  });

  it('are not replaced by a process that slept until another one supervised the attempt', async () => {
    const handle = await issue(second);
    const late = await issue(first);
    expect(await handles.verify(handle, second)).toBe(true);
    expect(await handles.verify(late, second)).toBe(false);
  });

  it('count no more once another is issued, they are revoked or their time is over', async () => {
    const [former, handle] = [await issue(first), await issue(first)];
    expect(await Promise.all([former, handle].map((each) => handles.verify(each, first)))).toEqual([false, true]);
    now = new Date(now.getTime() + 1_000);
    expect(await handles.verify(handle, first)).toBe(false);
    const [renewed, adopted] = [await issue(first), await issue(second)];
    const other = await issue(first, 'attempt_00000000ab');
    await handles.revoke(attemptId);
    expect(await handles.verify(renewed, first)).toBe(false);
    expect(await handles.verify(adopted, second)).toBe(false);
    expect(await handles.verify(other, first)).toBe(true);
  });
});
