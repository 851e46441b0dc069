import { createLog } from '../../../platform/log/log';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { createQueryStore } from '../../../services/workflow-runs/insights/query-store';
import { openDatabase } from '../../../stores/port/open';

describe('query store', () => {
  it('keeps the latest executions only', async () => {
    const directory = await makeTempDir('query-store');
    const database = await openDatabase({ dataDir: directory.path, log: createLog({ name: 'test', level: 'silent' }) });
    const queries = await createQueryStore(database, { maxStored: 2 });
    for (const sql of ['one', 'two', 'three', 'four']) {
      await queries.note({ sql, elapsed: 0, row_count: 0 }, new Date());
    }
    const kept = await queries.executions({ skip: 0, limit: 10 });
    expect(kept.map(({ sql }) => sql)).toEqual(['four', 'three']);
    await database.close();
    await directory.remove();
  });
});
