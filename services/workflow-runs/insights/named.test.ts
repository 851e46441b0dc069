import { namedColumns, namedTables } from './named';
import { columnsOf, type TableName } from './tables';

const namesIn = (sql: string, table: TableName = 'stages') =>
  namedColumns(sql, table).map((at) => columnsOf(table)[at]);

describe('names in a query', () => {
  it('finds the tables that a query names', () => {
    expect(namedTables('SELECT 1 FROM Runs, "signoffs", stages_of')).toEqual(['runs', 'signoffs']);
  });

  it.each([
    ['SELECT kind, count(*), avg(duration_secs) FROM stages GROUP BY kind', ['kind', 'duration_secs']],
    ['SELECT "Cost", [retries], `model`, s.node FROM stages s', ['node', 'retries', 'model', 'cost']],
    ['SELECT cost_of FROM (SELECT 1 AS cost_of)', ['run_id']],
    ['SELECT count( * ) FROM stages', ['run_id']],
  ])('finds the columns that are named in %s', (sql, columns) => {
    expect(namesIn(sql)).toEqual(columns);
  });

  it.each([
    'SELECT * FROM stages',
    'SELECT count(*), s.* FROM stages s',
    'SELECT count(/* all */ *) FROM stages',
    'SELECT count(*) FROM stages Natural JOIN runs',
  ])('finds all columns in %s', (sql) => {
    expect(namesIn(sql)).toEqual(columnsOf('stages'));
  });
});
