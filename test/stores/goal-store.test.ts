import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createGoalStore } from '../../stores/governance/goal-store';
import type { Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';
import { aStoredGoal } from '../support/factories/goal';

let dir: TempDir;
let database: Database;
beforeEach(async () => {
  dir = await makeTempDir('goals');
  const log = createLog({ name: 'test', level: 'silent' });
  database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
});
afterEach(async () => {
  await database.close();
  await dir.remove();
});

describe('goal store', () => {
  it('settles what was due when a slow reader began, and nothing that came since', async () => {
    const goals = await createGoalStore(database);
    const goal = aStoredGoal();
    await goals.add(goal);
    await goals.markDue(goal.id);
    const [slow, quick] = [await goals.dueOf(goal.id), await goals.dueOf(goal.id)];
    expect(await goals.settled(goal.id, quick)).toBe(true);
    await goals.markDue(goal.id);
    expect(await goals.settled(goal.id, slow)).toBe(false);
    const due: string[] = [];
    for await (const id of goals.due()) {
      due.push(id);
    }
    expect(due).toEqual([goal.id]);
  });
});
