import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { openSqlite } from '../../stores/sqlite/database';
import { storeContract } from './contract';

const directory = mkdtempSync(join(tmpdir(), 'runboard-sqlite-'));
const log = createLog({ name: 'test', level: 'fatal' });

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('sqlite', () => {
  storeContract({
    answersOwnResult: true,
    open: (options) => openSqlite({ file: join(directory, 'store.sqlite'), log, ...options }),
  });
});
