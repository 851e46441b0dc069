import type { RunRecord, Stage } from '../runs/run';
import { takeSnapshot } from './snapshot';
import { addRun, noRows, type Row, signoffRow } from './table-rows';
import { tableNames, tables } from './tables';

const stage: Stage = { id: 'a', name: 'A', kind: 'codergen', status: 'completed', retries: 0, model: 'm' };
const usage = { input_tokens: 1, output_tokens: 2, cost: 3 };
const run = (fields: Partial<RunRecord> = {}): RunRecord => ({
  _id: 'r1',
  status: 'completed',
  workflow: { name: 'Ship', slug: 'ship' },
  title: 'Ship it',
  dot_source: '',
  created_by: 'ann',
  created_at: '2026-03-01T12:00:00.000Z',
  stages: [{ ...stage, usage }],
  context: {},
  guidance: [],
  revision: 1,
  ...fields,
});
const signoff = {
  id: 's1',
  control: { slug: 'lint' },
  repository: { name: 'shop' },
  commit_sha: 'abcdef1',
  result: 'pass' as const,
  status: 'pass' as const,
  created_at: '2026-03-01T12:00:00.000Z',
};

it('gives every row a value for every column', () => {
  const rows = noRows();
  addRun(rows, run());
  rows.signoffs.push(signoffRow(signoff));
  const columns = tableNames.map((name) => tables[name].split(',').length);
  expect(tableNames.map((name) => rows[name].map((row: Row) => row.length))).toEqual(columns.map((count) => [count]));
});

it('has no retro of a run that continues', () => {
  const rows = noRows();
  addRun(rows, run({ status: 'running' }));
  expect(rows.retros).toEqual([]);
});

it('cuts long texts, and no character in two', () => {
  const rows = noRows();
  addRun(rows, run({ goal: `${'a'.repeat(1_999)}😀` }));
  expect(rows.runs[0]).toContain('a'.repeat(1_999));
});

describe('a snapshot', () => {
  const runs = Array.from({ length: 250 }, (_, at) => run({ _id: `r${at}` }));
  const page = <T>(records: T[]) =>
    jest.fn(({ skip, limit }: { skip: number; limit: number }) => Promise.resolve(records.slice(skip, skip + limit)));
  const whole = (each: RunRecord) => Promise.resolve(each);
  const most = { runs: 1_000, stages: 1_000, signoffs: 10 };

  it('holds all there is, when that is not too much', async () => {
    const sources = { runs: page(runs), signoffs: page([signoff]), whole };
    const { rows, leftOut } = await takeSnapshot('SELECT * FROM runs, SIGNOFFS', sources, most);
    expect([rows.runs.length, rows.signoffs.length, leftOut]).toEqual([250, 1, []]);
    expect(rows.runs.at(-1)?.[0]).toBe('r249');
  });

  it.each([{ runs: 120 }, { stages: 120 }])('is the newest within %j, and reports it', async (limit) => {
    const sources = { runs: page(runs), signoffs: page([signoff]), whole };
    const limits = { ...most, ...limit };
    const { rows, leftOut } = await takeSnapshot('SELECT 1 FROM runs JOIN stages', sources, limits);
    expect([rows.runs.length, leftOut]).toEqual([120, ['runs', 'stages']]);
  });

  it('leaves older signoffs out', async () => {
    const sources = {
      runs: page(runs),
      signoffs: page(Array.from({ length: 11 }, (_, at) => ({ ...signoff, id: `s${at}` }))),
      whole,
    };
    const { rows, leftOut } = await takeSnapshot('SELECT 1 FROM signoffs', sources, most);
    expect([rows.signoffs.length, leftOut]).toEqual([10, ['signoffs']]);
  });

  it('holds a run once that comes again because another one was added', async () => {
    const pages = [runs.slice(0, 100), runs.slice(99, 150)];
    const sources = { runs: jest.fn(() => Promise.resolve(pages.shift() ?? [])), signoffs: page([signoff]), whole };
    const { rows } = await takeSnapshot('SELECT * FROM runs', sources, most);
    expect(rows.runs.map(([id]) => id)).toEqual(runs.slice(0, 150).map(({ _id }) => _id));
  });

  it('reads nothing that the query does not name', async () => {
    const sources = { runs: page(runs), signoffs: page([signoff]), whole };
    await takeSnapshot('SELECT 1', sources, most);
    expect(sources.runs).not.toHaveBeenCalled();
    expect(sources.signoffs).not.toHaveBeenCalled();
  });
});
