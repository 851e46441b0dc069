import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openSqlite } from '../../../stores/sqlite/database';
import { oidcContract, sessionsContract } from '../contract/sessions';

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir('sessions');
});
afterAll(() => dir.remove());

describe('sqlite', () => {
  const harness = {
    answersOwnResult: true,
    open: () => openSqlite({ file: join(dir.path, 'store.sqlite'), log: createLog({ name: 'test', level: 'fatal' }) }),
  };
  sessionsContract(harness);
  oidcContract(harness);
});
