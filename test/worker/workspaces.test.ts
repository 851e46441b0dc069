import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createLog } from '../../platform/log/log';
import { retryUntilClosed } from '../../platform/temporal/closed-connection';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { SharedStores } from '../../stores/open-stores';
import { openSqlite } from '../../stores/sqlite/database';
import { openWorkspaceParts } from '../../worker/workspaces';

const log = createLog({ name: 'test', level: 'silent' });
let dir: TempDir;

beforeEach(async () => (dir = await makeTempDir('worker-workspaces')));
afterEach(() => dir.remove());

describe('a workspace on a host without task files', () => {
  it('has a directory of its own before its first run, for the user of the service alone', async () => {
    const database = await openSqlite({ file: join(dir.path, 'store.sqlite'), log });
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: retryUntilClosed });
    const local = {
      ...{ dataDir: dir.path, database, log, board: undefined },
      client: new Client({ connection }),
      // They are handed on, and nothing of them is used.
      stores: {} as SharedStores,
      sleepGuard: { assertAwake: () => undefined },
    };
    const { directory, board } = await openWorkspaceParts(local, 'ws-remote', []);
    expect(board).toBeUndefined();
    expect(directory).toBe(join(dir.path, 'workspaces', 'ws-remote'));
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    await connection.close();
    await database.close();
  });
});
