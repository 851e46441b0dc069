import fc from 'fast-check';
import { indexUnderTest } from './index-under-test';

/*
 * Random writes and queries, on the index and on plain sets and maps that do the same one column at a time.
 */
const columnsInUse = fc.oneof(
  { weight: 6, arbitrary: fc.nat(12) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 1_048_575, 1_048_576, 4_294_967_295, 4_294_967_296) },
);
const row = fc.nat(3);
const field = fc.constantFrom('a', 'b', 'm');
const amount = fc.oneof(fc.integer({ min: -40, max: 40 }), fc.constantFrom(-(2 ** 40), 2 ** 40));

type Columns = Set<number>;
interface Model {
  bits: Map<string, Columns>;
  values: Map<number, number>;
  existing: Columns;
}
interface Step {
  text: string;
  run: (model: Model) => unknown;
}

const rowOf = (model: Model, name: string, id: number): Columns => {
  const key = `${name}/${id}`;
  const found = model.bits.get(key) ?? new Set<number>();
  model.bits.set(key, found);
  return found;
};

const writes: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(columnsInUse, field, row).map(([column, name, id]) => ({
      text: `Set(${column}, ${name}=${id})`,
      run: (model: Model) => {
        if (name === 'm') {
          for (let other = 0; other <= 3; other += 1) {
            if (other !== id) {
              rowOf(model, name, other).delete(column);
            }
          }
        }
        const columns = rowOf(model, name, id);
        const isNew = !columns.has(column);
        columns.add(column);
        model.existing.add(column);
        return isNew;
      },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(columnsInUse, field, row).map(([column, name, id]) => ({
      text: `Clear(${column}, ${name}=${id})`,
      run: (model: Model) => rowOf(model, name, id).delete(column),
    })),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(columnsInUse, amount).map(([column, value]) => ({
      text: `Set(${column}, v=${value})`,
      run: (model: Model) => {
        const isNew = model.values.get(column) !== value;
        model.values.set(column, value);
        model.existing.add(column);
        return isNew;
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(field, row).map(([name, id]) => ({
      text: `ClearRow(${name}=${id})`,
      run: (model: Model) => {
        const had = rowOf(model, name, id).size > 0;
        rowOf(model, name, id).clear();
        return had;
      },
    })),
  },
);

interface RowQuery {
  text: string;
  columns: (model: Model) => Columns;
}
const filter = (columns: Iterable<number>, keep: (column: number) => boolean): Columns =>
  new Set([...columns].filter(keep));
const holds: Record<string, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '==': (value, limit) => value === limit,
  '!=': (value, limit) => value !== limit,
};

const { rows } = fc.letrec<{ rows: RowQuery }>((tie) => {
  const several = fc.array(tie('rows'), { minLength: 1, maxLength: 3 });
  const texts = (list: RowQuery[]): string => list.map(({ text }) => text).join(', ');
  return {
    rows: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc
        .tuple(field, row)
        .map(([name, id]) => ({ text: `Row(${name}=${id})`, columns: (model: Model) => rowOf(model, name, id) })),
      fc.tuple(fc.constantFrom(...Object.keys(holds)), amount).map(([operator, limit]) => ({
        text: `Row(v ${operator} ${limit})`,
        columns: (model: Model) =>
          filter(model.values.keys(), (column) => holds[operator]!(model.values.get(column)!, limit)),
      })),
      fc.tuple(amount, amount).map(([from, to]) => ({
        text: `Row(v >< [${from}, ${to}])`,
        columns: (model: Model) =>
          filter(model.values.keys(), (column) => model.values.get(column)! >= from && model.values.get(column)! <= to),
      })),
      several.map((list) => ({
        text: `Union(${texts(list)})`,
        columns: (model: Model) => new Set(list.flatMap((one) => [...one.columns(model)])),
      })),
      several.map((list) => ({
        text: `Intersect(${texts(list)})`,
        columns: (model: Model) =>
          list.map((one) => one.columns(model)).reduce((left, right) => filter(left, (column) => right.has(column))),
      })),
      several.map((list) => ({
        text: `Difference(${texts(list)})`,
        columns: (model: Model) =>
          list.map((one) => one.columns(model)).reduce((left, right) => filter(left, (column) => !right.has(column))),
      })),
      several.map((list) => ({
        text: `Xor(${texts(list)})`,
        columns: (model: Model) =>
          list
            .map((one) => one.columns(model))
            .reduce((left, right) => filter([...left, ...right], (column) => left.has(column) !== right.has(column))),
      })),
      tie('rows').map((one) => ({
        text: `Not(${one.text})`,
        columns: (model: Model) => {
          const columns = one.columns(model);
          return filter(model.existing, (column) => !columns.has(column));
        },
      })),
      fc.tuple(tie('rows'), fc.constantFrom(0, 1, 65_536, 1_048_576, 2 ** 33)).map(([one, by]) => ({
        text: `Shift(${one.text}, n=${by})`,
        columns: (model: Model) => new Set([...one.columns(model)].map((column) => column + by)),
      })),
    ),
  };
});

const extreme = (values: number[], pick: (...values: number[]) => number) => {
  const value = values.length > 0 ? pick(...values) : 0;
  return { value, count: values.filter((one) => one === value).length };
};

const reads: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: rows.map(({ text, columns }) => ({
      text,
      run: (model: Model) => ({ attrs: {}, columns: [...columns(model)].sort((a, b) => a - b) }),
    })),
  },
  {
    weight: 3,
    arbitrary: rows.map(({ text, columns }) => ({
      text: `Count(${text})`,
      run: (model: Model) => columns(model).size,
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('Sum', 'Min', 'Max'), fc.option(rows, { nil: undefined }))
      .map(([name, one]) => ({
        text: `${name}(${one ? `${one.text}, ` : ''}field=v)`,
        run: (model: Model) => {
          const columns = one
            ? filter(one.columns(model), (column) => model.values.has(column))
            : new Set(model.values.keys());
          const values = [...columns].map((column) => model.values.get(column)!);
          if (name === 'Sum') {
            return { value: values.reduce((total, value) => total + value, 0), count: values.length };
          }
          return extreme(values, name === 'Min' ? Math.min : Math.max);
        },
      })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(field, fc.option(rows, { nil: undefined }), fc.nat(3)).map(([name, one, n]) => ({
      text: `TopN(${name}${one ? `, ${one.text}` : ''}, n=${n})`,
      run: (model: Model) => {
        const columns = one?.columns(model);
        const counts = [0, 1, 2, 3]
          .map((id) => ({ id, count: filter(rowOf(model, name, id), (column) => columns?.has(column) ?? true).size }))
          .filter(({ count }) => count > 0)
          .sort((a, b) => b.count - a.count || a.id - b.id);
        return n === 0 ? counts : counts.slice(0, n);
      },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(field, fc.nat(4)).map(([name, limit]) => ({
      text: `Rows(${name}, limit=${limit})`,
      run: (model: Model) => ({ rows: [0, 1, 2, 3].filter((id) => rowOf(model, name, id).size > 0).slice(0, limit) }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.option(rows, { nil: undefined }).map((one) => ({
      text: `GroupBy(Rows(a), Rows(b)${one ? `, filter=${one.text}` : ''})`,
      run: (model: Model) => {
        const columns = one?.columns(model);
        const pairs = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].map((b) => [a, b] as const));
        return pairs
          .map(([a, b]) => ({
            group: [
              { field: 'a', rowID: a },
              { field: 'b', rowID: b },
            ],
            count: filter(
              rowOf(model, 'a', a),
              (column) => rowOf(model, 'b', b).has(column) && (columns?.has(column) ?? true),
            ).size,
          }))
          .filter(({ count }) => count > 0);
      },
    })),
  },
);

describe('bitmap index against a model', () => {
  it('answers like sets and maps do', () => {
    let cases = 0;
    fc.assert(
      fc.property(
        fc.array(writes, { minLength: 1, maxLength: 30 }),
        fc.array(reads, { minLength: 5, maxLength: 12 }),
        fc.array(writes, { maxLength: 5 }),
        fc.array(reads, { minLength: 3, maxLength: 6 }),
        (...batches) => {
          const index = indexUnderTest();
          index.field('a');
          index.field('b');
          index.field('m', { type: 'mutex' });
          index.field('v', { type: 'int', min: -(2 ** 50), max: 2 ** 50 });
          const model: Model = { bits: new Map(), values: new Map(), existing: new Set() };
          for (const steps of batches) {
            index.recalculate();
            cases += steps.length;
            const expected = steps.map(({ run }) => JSON.parse(JSON.stringify(run(model))));
            expect(index.run(steps.map(({ text }) => text).join(' '))).toEqual(expected);
          }
        },
      ),
      { numRuns: 600 },
    );
    expect(cases).toBeGreaterThan(10_000);
  });
});
