import fc from 'fast-check';
import { compare, toInt } from '../int';
import { columnAt, columnList } from './column-list';
import { ColumnSet } from './column-set';

const columns = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: 0, max: 2 ** 32 + 5 }),
    fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(toInt),
  ),
);

describe('bitmap column list', () => {
  it('holds the columns it was made of, each page in ascending order', () => {
    fc.assert(
      fc.property(columns, (given) => {
        const pages = [...columnList(given)].sort(([a], [b]) => a - b);
        const listed = pages.flatMap(([page, offsets]) => [...offsets].map((offset) => columnAt(page, offset)));
        expect(listed).toEqual([...given].sort(compare));
      }),
    );
  });

  it('is added to a set', () => {
    fc.assert(
      fc.property(columns, columns, (before, added) => {
        const set = ColumnSet.of(before);
        set.addList(columnList(added));
        expect(set.toArray()).toEqual([...new Set([...before, ...added])].sort(compare));
      }),
    );
  });
});
