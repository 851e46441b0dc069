import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { openSqlite } from '../../stores/sqlite/database';
import { storeFences } from './stores';

let dir: TempDir;
let files = 0;
beforeAll(async () => {
  dir = await makeTempDir('fences');
});
afterAll(() => dir.remove());

describe('sqlite', () => {
  storeFences(() => {
    files += 1;
    return openSqlite({ file: join(dir.path, `${files}.sqlite`), log: createLog({ name: 'test', level: 'fatal' }) });
  });
});
