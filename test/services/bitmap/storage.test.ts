import { appendFile, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { answerJson } from '../../../services/bitmap/answers/json';
import type { Change } from '../../../services/bitmap/engine/change';
import { columnList } from '../../../services/bitmap/engine/column-list';
import { ColumnSet } from '../../../services/bitmap/engine/column-set';
import { execute } from '../../../services/bitmap/query/execute';
import { ByteReader, ByteWriter } from '../../../services/bitmap/storage/bytes';
import { readChange, writeChange } from '../../../services/bitmap/storage/change-bytes';
import { Store } from '../../../services/bitmap/storage/store';

let directory: TempDir;
const opened: Store[] = [];
const abandoned: Store[] = [];
beforeEach(async () => {
  directory = await makeTempDir('bitmap-store');
});
afterEach(async () => {
  for (const store of [...opened.splice(0), ...abandoned.splice(0)]) {
    await store.close();
  }
  await directory.remove();
});

const open = async (): Promise<Store> => {
  const store = await Store.open({
    directory: directory.path,
    logger: createLog({ name: 'bitmap', level: 'silent' }),
    onFailure: (error) => {
      throw error;
    },
  });
  opened.push(store);
  return store;
};

const run = (store: Store, text: string, index = 'i'): string =>
  [...answerJson(execute({ catalog: store.catalog, index: store.catalog.indexes.get(index)! }, text))]
    .join('')
    .trimEnd();

async function filled(): Promise<Store> {
  const store = await open();
  const index = store.catalog.createIndex('i', { keys: false, trackExistence: true });
  store.catalog.createField(index, 'a', { type: 'set', keys: true, cacheType: 'ranked', cacheSize: 10 });
  store.catalog.createField(index, 'n', { type: 'set', keys: false, cacheType: 'ranked', cacheSize: 10 });
  store.catalog.createField(index, 'v', { type: 'int', keys: false, min: -(2n ** 63n), max: 2n ** 63n - 1n });
  store.catalog.createField(index, 't', { type: 'time', keys: false, timeQuantum: 'YM', noStandardView: false });
  run(
    store,
    'Set(1,a="x")Set(9223372036854775807,a="y")Set(1,n=7)SetRowAttrs(a,"x",f=1.5,n=9223372036854775807)SetColumnAttrs(1,c=true)',
  );
  run(store, 'Set(1,v=-5)Set(2,v=9223372036854775807)Set(3,v=0)Set(4,t=1,2017-05-01T00:00)');
  await store.commit();
  return store;
}
/** Everything there is to see of that index. */
const all =
  'Row(a="x") Row(a="y") Rows(a) Row(n=7) Row(v<0) Row(v>5) Sum(field=v) Min(field=v) Max(field=v) Not(Union()) Row(t=1,from=2017-05-01T00:00) Options(Row(a="x"),columnAttrs=true)';

const files = async (start: string): Promise<string[]> =>
  (await readdir(directory.path)).filter((name) => name.startsWith(start)).sort();

/** What a process that is killed leaves: the store is not closed. */
const abandon = (): void => void abandoned.push(...opened.splice(0));

describe('the store', () => {
  it('recovers from the log alone', async () => {
    const expected = run(await filled(), all);
    abandon();
    expect(await files('data-')).toEqual([]);
    const again = await open();
    expect(run(again, all)).toBe(expected);
    expect(again.findings).toEqual([]);
  });

  it('recovers texts of many megabytes', async () => {
    const store = await filled();
    const text = 'x'.repeat(20_000_000);
    run(store, `SetColumnAttrs(1, c="${text}", n=9223372036854775807)`);
    await store.commit();
    abandon();
    const again = await open();
    expect(again.findings).toEqual([]);
    const attributes = again.catalog.indexes.get('i')!.attributes;
    expect(attributes.value(1, 'c') === text).toBe(true);
    expect(attributes.value(1, 'n')).toBe(9223372036854775807n);
  });

  it('recovers from snapshots, and from snapshots and the log', async () => {
    const store = await filled();
    await store.checkpoint();
    expect((await files('data-')).length).toBe(5);
    run(store, 'Set(5,n=7)Clear(1,a="x")Set(1,v=100)SetColumnAttrs(1,c=null)');
    await store.commit();
    const expected = run(store, all);
    abandon();
    const again = await open();
    expect(run(again, all)).toBe(expected);
    await again.close();
    opened.splice(0);
    expect((await files('log-')).length).toBe(1);
    expect(run(await open(), all)).toBe(expected);
  });

  it('forgets what was removed, with its files', async () => {
    const store = await filled();
    await store.checkpoint();
    const index = store.catalog.indexes.get('i')!;
    store.catalog.remove(index.fields.get('n')!);
    store.catalog.createField(index, 'n', { type: 'set', keys: false, cacheType: 'ranked', cacheSize: 10 });
    await store.commit();
    await store.checkpoint();
    abandon();
    const again = await open();
    expect(run(again, 'Row(n=7)')).toBe('{"results":[{"attrs":{},"columns":[]}]}');
    again.catalog.remove(again.catalog.indexes.get('i')!);
    await again.commit();
    await again.checkpoint();
    expect(await files('data-')).toEqual([]);
  });

  it('cuts off what was being written when the process died', async () => {
    const store = await filled();
    const expected = run(store, all);
    abandon();
    const [log = ''] = await files('log-');
    await appendFile(join(directory.path, log), Buffer.from('RBF1half of a fra'));
    const again = await open();
    expect(run(again, all)).toBe(expected);
    expect(again.findings).toEqual([
      expect.objectContaining({ file: log, problem: expect.stringContaining('cut off'), lostBytes: 17 }),
    ]);
  });

  it('loses at most the last write to a log that is cut anywhere', async () => {
    const store = await filled();
    run(store, 'Set(77,n=7)');
    await store.commit();
    abandon();
    const [log = ''] = await files('log-');
    const bytes = await readFile(join(directory.path, log));
    await truncate(join(directory.path, log), bytes.length - 3);
    const again = await open();
    expect(run(again, 'Row(n=7)')).toBe('{"results":[{"attrs":{},"columns":[1]}]}');
    expect(again.findings).toHaveLength(1);
  });

  it('passes over damage in the middle of the log, and keeps it aside', async () => {
    const store = await filled();
    run(store, 'Set(77,n=7)');
    await store.commit();
    run(store, 'Set(78,n=7)');
    await store.commit();
    abandon();
    const [log = ''] = await files('log-');
    const path = join(directory.path, log);
    const bytes = await readFile(path);
    // In the body of the last frame but one.
    const last = bytes.lastIndexOf('1FBR');
    bytes[last - 2] = (bytes[last - 2] ?? 0) ^ 0xff;
    await writeFile(path, bytes);
    const again = await open();
    expect(run(again, 'Row(n=7)')).toBe('{"results":[{"attrs":{},"columns":[1,78]}]}');
    expect(again.findings).toEqual([expect.objectContaining({ problem: expect.stringContaining('put aside') })]);
    expect(await readdir(join(directory.path, 'quarantine'))).toHaveLength(1);
  });

  it('puts a damaged snapshot aside and serves the rest, for good', async () => {
    const store = await filled();
    await store.checkpoint();
    await store.close();
    opened.splice(0);
    const number = store.catalog.indexes.get('i')!.fields.get('v')!.number;
    const [name = ''] = (await files('data-')).filter((file) => Number(file.slice(5)) === number);
    const path = join(directory.path, name);
    const bytes = await readFile(path);
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
    await writeFile(path, bytes);

    for (let start = 0; start < 2; start += 1) {
      const again = await open();
      expect(again.findings).toHaveLength(start === 0 ? 1 : 0);
      expect(run(again, 'Row(n=7)')).toBe('{"results":[{"attrs":{},"columns":[1]}]}');
      expect(() => run(again, 'Row(v > 0)')).toThrow(/field v is out of service: its file .* was damaged/);
      expect(() => run(again, 'Set(1, v=1)')).toThrow(/out of service/);
      await again.close();
      opened.splice(0);
    }
    expect(await readdir(join(directory.path, 'quarantine'))).toHaveLength(1);
    const again = await open();
    const index = again.catalog.indexes.get('i')!;
    again.catalog.remove(index.fields.get('v')!);
    again.catalog.createField(index, 'v', { type: 'int', keys: false, min: 0, max: 10 });
    expect(run(again, 'Set(1, v=1) Sum(field=v)')).toBe('{"results":[true,{"value":1,"count":1}]}');
  });

  it('has the same content whenever snapshots were taken', async () => {
    const store = await filled();
    const step = fc.oneof(
      { weight: 12, arbitrary: fc.tuple(fc.nat(30), fc.nat(3)).map(([c, r]) => `Set(${c},n=${r})`) },
      { weight: 6, arbitrary: fc.tuple(fc.nat(30), fc.nat(3)).map(([c, r]) => `Clear(${c},n=${r})`) },
      {
        weight: 10,
        arbitrary: fc.tuple(fc.nat(30), fc.integer({ min: -9, max: 9 })).map(([c, v]) => `Set(${c},v=${v})`),
      },
      { weight: 2, arbitrary: fc.nat(3).map((r) => `ClearRow(n=${r})`) },
      { weight: 2, arbitrary: fc.nat(3).map((r) => `Store(Row(v>0),n=${r})`) },
      { weight: 2, arbitrary: fc.nat(30).map((c) => `Set(${c},a="k${c}")`) },
    );
    const seen = 'Row(n=0)Row(n=1)Row(n=2)Row(n=3)Row(v>0)Row(v<0)Row(v==0)Sum(field=v)Rows(a)Not(Union())';
    let current = store;
    for (let round = 0; round < 15; round += 1) {
      const steps = fc.sample(step, { numRuns: 60, seed: 1000 + round });
      let checkpoint: Promise<void> | undefined;
      for (const [at, text] of steps.entries()) {
        run(current, text);
        const committed = current.commit();
        if (at === round * 4) {
          checkpoint = current.checkpoint();
        }
        await committed;
      }
      const expected = run(current, seen);
      await checkpoint;
      abandon();
      current = await open();
      expect(run(current, seen)).toBe(expected);
    }
  });
});

describe('changes', () => {
  const int = fc
    .oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.nat())
    .map((value) => (typeof value === 'bigint' && value <= 2n ** 53n - 1n ? Number(value) : value));
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({
      kind: fc.constant('bit' as const),
      target: fc.nat(),
      view: fc.constantFrom('', '2017'),
      row: int,
      column: int,
      present: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('value' as const), target: fc.nat(), column: int, value: int }),
    fc.record({ kind: fc.constant('keys' as const), target: fc.nat(), first: fc.nat(), keys: fc.array(fc.string()) }),
    fc.record({
      kind: fc.constant('attributes' as const),
      target: fc.nat(),
      id: int,
      patch: fc.dictionary(
        fc.string(),
        fc.oneof(int, fc.string(), fc.boolean(), fc.constant(null), fc.constant({ fraction: 1.5 })),
      ),
    }),
    fc.array(fc.tuple(int, int)).map((pairs) => ({
      kind: 'values' as const,
      target: 3,
      columns: pairs.map(([column]) => column),
      values: pairs.map(([, value]) => value),
    })),
    fc.record({
      kind: fc.constant('listed' as const),
      target: fc.nat(),
      view: fc.string(),
      row: int,
      columns: fc.array(int).map(columnList),
    }),
  );

  it('are read as they were written', () => {
    fc.assert(
      fc.property(change, (given) => {
        const writer = new ByteWriter();
        writeChange(writer, given);
        const read = readChange(new ByteReader(writer.take()));
        expect({ ...read }).toEqual({ ...given });
      }),
      { numRuns: 500 },
    );
  });

  it('hold columns', () => {
    const columns = ColumnSet.of([1, 2 ** 33, 2n ** 62n]);
    const writer = new ByteWriter();
    writeChange(writer, { kind: 'columns', target: 1, view: 'x', row: 2n ** 62n, columns, mode: 'replace' });
    const read = readChange(new ByteReader(writer.take()));
    expect(read).toMatchObject({ kind: 'columns', row: 2n ** 62n, mode: 'replace' });
    expect(read.kind === 'columns' && read.columns.toArray()).toEqual([1, 2 ** 33, 2n ** 62n]);
  });
});
