import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createTraceStore } from '../../../stores/governance/trace-store';
import type { Database, Stored } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

let dir: TempDir;
let database: Database;
beforeEach(async () => {
  dir = await makeTempDir('traces');
  const log = createLog({ name: 'test', level: 'silent' });
  database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
});
afterEach(async () => {
  await database.close();
  await dir.remove();
});

const input = { kind: 'policy', outcome: 'warned', title: 'launch: warn', summary: 'A rule warns.' } as const;

describe('governance trace store in the embedded database', () => {
  it('writes less than four pages when a trace is stored, however many indexes traces are searched by', async () => {
    const traces = await createTraceStore(database);
    const written = () => statSync(join(dir.path, 'board.sqlite-wal')).size / 4_096;
    await traces.record(input);
    const before = written();
    for (let stored = 0; stored < 20; stored += 1) {
      await traces.record(input);
    }
    expect((written() - before) / 20).toBeLessThan(4);
  });

  it('files traces for searches by itself once no more are added', async () => {
    const traces = await createTraceStore(database);
    const filed = await database.collection<Stored>({ name: 'governance-traces' });
    const id = await traces.record(input);
    await eventually(async () => expect(await filed.get(id)).toMatchObject({ title: input.title }));
    expect(await traces.list({ limit: 10 })).toMatchObject({ items: [{ id }] });
  });
});
