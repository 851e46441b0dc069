import type { Filter } from 'mongodb';
import type { FindOptions, Stored } from '../../stores/port/collection';
import { declare } from '../../stores/rules/spec';
import { Connection } from '../../stores/sqlite/connection';
import { prepareSearch, selectSql } from '../../stores/sqlite/query';
import { collectionSchema } from '../../stores/sqlite/schema';

interface Task extends Stored {
  state: string;
  owner: { name: string; team?: string };
  createdAt: string;
  priority: number;
  slug: string;
}

const declaration = declare({
  name: 'tasks',
  indexes: [
    { keys: { state: 1, priority: -1, createdAt: 1 } },
    { keys: { 'owner.name': 1 } },
    { keys: { slug: 1 }, unique: true },
    { keys: { createdAt: -1, _id: -1 } },
  ],
});

describe('query plans of SQLite', () => {
  const connection = new Connection(':memory:');
  for (const { sql } of collectionSchema(declaration)) {
    connection.execute(sql);
  }
  afterAll(() => connection.close());

  function plan(filter: Filter<Task>, options: FindOptions = {}): string {
    const search = prepareSearch<Task>(declaration, filter, options);
    const sql = `EXPLAIN QUERY PLAN ${selectSql(search, options.sort)}`;
    const rows = connection.rows<[number, number, number, string]>(sql, ...search.where.parameters);
    return rows.map(([, , , step]) => step).join('; ');
  }

  it.each<[string, Filter<Task>, FindOptions?]>([
    ['_id', { _id: 'a' }],
    ['_id', { _id: { $in: ['a', 'b'] }, state: 'x' }],
    ['_id', { _id: { $gt: 'a' } }, { sort: { _id: 1 }, limit: 5 }],
    ['tasks/state+,priority-,createdAt+', { state: 'waiting' }, { sort: { priority: -1, createdAt: 1 } }],
    ['tasks/state+,priority-,createdAt+', { state: 'waiting' }, { sort: { priority: 1, createdAt: -1 } }],
    ['tasks/state+,priority-,createdAt+', { state: 'waiting', priority: { $gte: 1 } }],
    ['tasks/state+,priority-,createdAt+', { state: { $in: ['waiting', 'running'] }, priority: 3 }],
    ['tasks/state+,priority-,createdAt+', { state: { $exists: false } }],
    ['tasks/owner.name+', { 'owner.name': 'Ann', 'owner.team': 'red' }],
    ['tasks/owner.name+', { 'owner.name': { $lt: 'B' } }],
    ['tasks/slug+!', { slug: 'x' }],
    ['tasks/createdAt-,_id-', {}, { sort: { createdAt: -1, _id: -1 }, limit: 20 }],
    ['tasks/createdAt-,_id-', { createdAt: { $lt: 'x' } }, { sort: { createdAt: 1 } }],
  ])('uses %s for %j %j', (index, filter, options = {}) => {
    const steps = plan(filter, options);
    expect(steps).toContain(index === '_id' ? 'USING INDEX sqlite_autoindex_tasks_1' : `USING INDEX ${index}`);
    expect(steps).not.toContain('TEMP B-TREE');
  });

  it('uses an index for every branch of an $or', () => {
    const steps = plan({ $or: [{ slug: 'x' }, { 'owner.name': 'Ann' }, { _id: 'a' }] });
    expect(steps).toContain('MULTI-INDEX OR');
    expect(steps).not.toContain('SCAN tasks');
  });

  it('finds exactly in SQL what is about declared paths', () => {
    expect(prepareSearch<Task>(declaration, { state: 'x', priority: { $gt: 1 } }).test).toBeUndefined();
    expect(prepareSearch<Task>(declaration, { state: 'x', 'owner.team': 'red' }).test).toBeDefined();
  });
});
