import { join } from 'node:path';
import { createLog } from '../../../../platform/log/log';
import { eventually } from '../../../../platform/testing/eventually';
import { makeTempDir } from '../../../../platform/testing/temp-dir';
import { createCommandResultStore } from '../../../../services/workflow-runs/commands/result-store';
import { openSqlite } from '../../../../stores/sqlite/database';

describe('the result of a command', () => {
  it('is removed half a year after its attempt, and no sooner', async () => {
    const directory = await makeTempDir('command-results');
    const log = createLog({ name: 'test', level: 'error' });
    const database = await openSqlite({ file: join(directory.path, 'results.sqlite'), log, sweepEveryMs: 20 });
    try {
      const results = await createCommandResultStore(database);
      const put = (stage: string, daysAgo: number) =>
        results.put('run', stage, {
          attempt: 1,
          result: { exitCode: 0, output: stage },
          uncommitted: false,
          at: new Date(Date.now() - daysAgo * 86_400_000),
        });
      await put('old', 181);
      await put('young', 179);
      await eventually(async () => expect(await results.get('run', 'old', 1)).toBeUndefined());
      expect(await results.get('run', 'young', 1)).toMatchObject({ result: { output: 'young' }, uncommitted: false });
    } finally {
      await database.close();
      await directory.remove();
    }
  });
});
