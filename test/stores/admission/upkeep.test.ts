import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openSqlite } from '../../../stores/sqlite/database';
import { upkeepCases } from './upkeep';

let dir: TempDir;
let files = 0;
beforeAll(async () => {
  dir = await makeTempDir('upkeep');
});
afterAll(() => dir.remove());

describe('sqlite', () => {
  upkeepCases(() => {
    files += 1;
    return openSqlite({
      file: join(dir.path, `board-${files}.sqlite`),
      log: createLog({ name: 'test', level: 'fatal' }),
    });
  });
});
