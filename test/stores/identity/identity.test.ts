import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openSqlite } from '../../../stores/sqlite/database';
import { identityContract } from '../contract/identity';

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir('identity');
});
afterAll(() => dir.remove());

describe('sqlite', () => {
  identityContract({
    answersOwnResult: true,
    open: () => openSqlite({ file: join(dir.path, 'store.sqlite'), log: createLog({ name: 'test', level: 'fatal' }) }),
  });
});
