import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Query } from 'mingo';
import type { Filter } from 'mongodb';
import { createLog } from '../../platform/log/log';
import type { Collection, Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';

interface Thing {
  _id: string;
  a?: unknown;
  b?: { c?: unknown };
  d?: unknown;
}

const plain = { noNullPrototype: true };

// Few values, so that they meet; mingo orders text by UTF-16 units and the stores by bytes, so no half characters.
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    1,
    -1,
    2.5,
    1e21,
    -0.1,
    true,
    false,
    null,
    '',
    '0',
    '1',
    'true',
    'null',
    '{"x":1}',
    '[1]',
  ),
  fc.constantFrom<unknown>('a', 'b', 'ab', 'ä', '𝒳', "a'b", 'a"b', 'a\0b', '%', 'A'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
);
const anything = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ x: scalar }, plain));

const thing = fc.record(
  { a: scalar, b: fc.record({ c: scalar }, { requiredKeys: [], ...plain }), d: anything },
  { requiredKeys: [], ...plain },
);

const range = fc.oneof(fc.integer({ min: -2, max: 3 }), fc.constantFrom('', '0', 'a', 'ab', 'z', 'ä'));
const condition = fc.oneof(
  scalar,
  scalar.map((value) => ({ $eq: value })),
  fc.array(scalar, { maxLength: 4 }).map((values) => ({ $in: values })),
  fc.boolean().map((exists) => ({ $exists: exists })),
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), range).map(([operator, value]) => ({ [operator]: value })),
  fc.tuple(range, range).map(([from, to]) => ({ $gte: from, $lt: to })),
  scalar.map((value) => ({ $ne: value })),
  fc.array(scalar, { maxLength: 3 }).map((values) => ({ $nin: values })),
  scalar.filter((value) => value !== null).map((value) => ({ $not: { $eq: value } })),
);
const part = fc
  .tuple(fc.constantFrom('a', 'b.c', 'd', '_id'), condition)
  .map(([path, test]): Record<string, unknown> => ({ [path]: test }));
const filter = fc.oneof(
  part,
  fc.array(part, { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
  fc.array(part, { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
  fc.tuple(part, part, part).map(([one, two, three]) => ({ ...one, $or: [two, { $and: [three, one] }] })),
);

describe('sqlite beside mingo', () => {
  const directory = mkdtempSync(join(tmpdir(), 'runboard-property-'));
  let database: Database;
  beforeAll(async () => {
    const log = createLog({ name: 'test', level: 'fatal' });
    database = await openSqlite({ file: join(directory, 'store.sqlite'), log });
  });
  afterAll(async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('finds and counts the same documents for any filter', async () => {
    const things: Collection<Thing> = await database.collection<Thing>({
      name: 'things',
      indexes: [{ keys: { a: 1, 'b.c': -1 } }, { keys: { 'b.c': 1 } }],
    });
    const property = fc.asyncProperty(
      fc.array(thing, { maxLength: 12 }),
      fc.array(filter, { minLength: 1, maxLength: 20 }),
      async (documents, filters) => {
        await things.deleteMany({ _id: { $gte: '' } });
        const stored = documents.map((document, at) => ({ _id: `t${at}`, ...document }));
        await Promise.all(stored.map((document) => things.insert(document)));
        for (const each of filters) {
          // With the ids beside it every filter is served by an index.
          const served = { $and: [{ _id: { $gte: 't' } }, each] } as Filter<Thing>;
          const expected = stored.filter((document) =>
            new Query(each as Record<string, unknown>).test(document as never),
          );
          const ids = expected.map(({ _id }) => _id).sort();
          expect({ each, ids: (await things.find(served)).map(({ _id }) => _id).sort() }).toEqual({ each, ids });
          expect(await things.count(served)).toBe(ids.length);
          const direct = await things.find(each as Filter<Thing>).catch((error: unknown) => (error as Error).name);
          if (Array.isArray(direct)) {
            expect(direct.map(({ _id }) => _id).sort()).toEqual(ids);
          } else {
            expect(direct).toBe('UnindexedQueryError');
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });
});
