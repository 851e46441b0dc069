import { AppError } from '../../errors/app-error';
import { expectedRevision, statedRevisions } from './precondition';

const id = 'task_20260101_ab12cd';

const stated = (headers: Record<string, string>, bodyRevision?: number): number[] =>
  statedRevisions('task', id, { header: (name) => headers[name], bodyRevision });

describe('the revision a caller has seen', () => {
  it.each([
    ['an entity tag', `"task:${id}:7"`, [7]],
    ['a weak entity tag', `W/"task:${id}:7"`, [7]],
    ['a bare tag of another kind', '"v:7"', [7]],
    ['a plain integer', '7', [7]],
    ['a quoted integer', '"7"', [7]],
    ['a list', `"task:${id}:6", W/"task:${id}:7"`, [6, 7]],
    ['a star, which names no revision', '*', []],
  ])('is read from If-Match: %s', (_case, header, expected) => {
    expect(stated({ 'If-Match': header })).toEqual(expected);
  });

  it('is taken from If-Match before X-Resource-Revision before the body', () => {
    expect(stated({ 'If-Match': '1', 'X-Resource-Revision': '2' }, 3)).toEqual([1]);
    expect(stated({ 'X-Resource-Revision': '2' }, 3)).toEqual([2]);
    expect(stated({ 'If-Match': '*' }, 3)).toEqual([3]);
    expect(stated({})).toEqual([]);
  });

  it.each([
    ['words', { 'If-Match': '"latest"' }],
    ['zero', { 'If-Match': '0' }],
    ['a fraction', { 'X-Resource-Revision': '1.5' }],
    ['a negative number', { 'X-Resource-Revision': '-1' }],
    ['more digits than a number holds', { 'If-Match': '"9999999999999999999"' }],
    ['the tag of another task', { 'If-Match': '"task:task_20260101_zzzzzz:7"' }],
  ])('is refused when it is %s', (_case, headers: Record<string, string>) => {
    expect(() => stated(headers)).toThrow(AppError);
  });

  it('is the current one, when the caller accepts several and it is among them', async () => {
    expect(await expectedRevision([3, 4], async () => 4)).toBe(4);
    expect(await expectedRevision([3, 4], async () => 5)).toBe(3);
    expect(await expectedRevision([3], async () => 5)).toBe(3);
    expect(await expectedRevision([], async () => 5)).toBeUndefined();
  });
});
