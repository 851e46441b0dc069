import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openSqlite } from '../../../stores/sqlite/database';
import { admissionModel } from './model';

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir('admission');
});
afterAll(() => dir.remove());

describe('sqlite', () => {
  admissionModel(
    () => openSqlite({ file: join(dir.path, 'board.sqlite'), log: createLog({ name: 'test', level: 'fatal' }) }),
    60,
  );
});
