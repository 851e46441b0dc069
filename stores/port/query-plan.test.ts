import { parseFilter } from '../rules/filter';
import { declare } from '../rules/spec';
import { UnindexedQueryError } from './errors';
import { planQuery, type Sort } from './query-plan';

const declaration = declare({
  name: 'runs',
  indexes: [
    { keys: { state: 1, createdAt: -1 } },
    { keys: { task: 1 } },
    { keys: { task: 1, key: 1 }, unique: true },
    { keys: { host: 1, pid: 1, startedAt: 1 } },
  ],
});

function plan(filter: object, options: { sort?: Sort; limited?: boolean } = {}) {
  const { indexes, ordered } = planQuery(declaration, parseFilter('runs', filter), options);
  return { index: indexes.map(({ name }) => name).join(' '), ordered };
}

describe('planQuery', () => {
  it.each<[string, object]>([
    ['_id', { _id: 'a', state: 'x', task: 't' }],
    ['_id', { _id: { $in: ['a'] }, state: 'x' }],
    ['state+,createdAt-', { state: 'x' }],
    ['state+,createdAt-', { state: { $in: ['x', 'y'] }, createdAt: { $gt: 'x' } }],
    ['task+', { task: 't' }],
    ['task+,key+!', { task: 't', key: 'k' }],
    ['host+,pid+,startedAt+', { host: 'h', pid: 1, state: 'x' }],
    ['state+,createdAt- task+', { $or: [{ state: 'x' }, { task: 't', other: 1 }] }],
    ['task+', { task: null }],
  ])('takes %s for %j', (index, filter) => {
    expect(plan(filter).index).toBe(index);
  });

  it.each<[boolean, object, Sort]>([
    [true, { state: 'x' }, { createdAt: -1 }],
    [true, { state: 'x' }, { createdAt: 1 }],
    [true, { state: 'x' }, { state: 1, createdAt: -1 }],
    [true, { state: 'x', createdAt: { $gt: 'a' } }, { createdAt: 1 }],
    [false, { state: { $in: ['x', 'y'] } }, { createdAt: -1 }],
    [false, { state: 'x' }, { createdAt: -1, _id: 1 }],
    [false, { host: 'h' }, { pid: 1, startedAt: -1 }],
    [true, { host: 'h', pid: 1 }, { startedAt: -1 }],
    [false, { task: 't' }, { name: 1 }],
    [false, { $or: [{ state: 'x' }, { task: 't' }] }, { createdAt: 1 }],
  ])('reports %j of order for %j by %j', (ordered, filter, sort) => {
    expect(plan(filter, { sort }).ordered).toBe(ordered);
  });

  it('reads a whole index in order only up to a limit', () => {
    expect(plan({}, { sort: { state: -1, createdAt: 1 }, limited: true })).toEqual({
      index: 'state+,createdAt-',
      ordered: true,
    });
    expect(() => plan({}, { sort: { state: 1 } })).toThrow(UnindexedQueryError);
    expect(() => plan({}, { limited: true })).toThrow(UnindexedQueryError);
    expect(() => plan({ other: 1 }, { sort: { state: 1 }, limited: true })).toThrow(UnindexedQueryError);
  });

  it('names what no index serves', () => {
    expect(() => plan({ other: 1, createdAt: 'x' })).toThrow('runs: no index serves a query on other, createdAt.');
    expect(() => plan({})).toThrow('the whole collection');
  });
});
