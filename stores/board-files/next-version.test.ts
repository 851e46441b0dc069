import { maxComments } from '../../contracts/tasks/comment';
import type { Task } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { frozenPlain } from './format/plain';
import { isSameTask, nextVersion } from './next-version';

const now = new Date('2026-02-01T00:00:00.000Z');
const writer = { actor: 'user:anna' };
const aComment = (id: string) => ({ id, author: 'anna', text: 'x', timestamp: now.toISOString(), revision: 1 });
const fields = { project: 'site', comments: [aComment('a')], subtasks: [], custom: { by: 'hand', list: [1] } };
/** One that this process has written, whose changed fields alone are validated, and the same as it is read from a file. */
const written = () => frozenPlain(aTask(structuredClone(fields)));
const read = () => aTask(structuredClone(fields));

const next = (task: Task, change: Partial<Task>): unknown => {
  try {
    return nextVersion(task, change, { writer, now });
  } catch (error) {
    return error;
  }
};

describe('the next version of a task', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a field', { title: 'Other' }],
    ['a field that is removed', { project: undefined }],
    ['a field with a default that is removed', { priority: undefined, description: undefined, subtasks: undefined }],
    ['a status', { status: 'in-progress' }],
    ['an item without what has a default', { comments: [aComment('a'), { ...aComment('b'), revision: undefined }] }],
    ['items in another order', { comments: [aComment('c'), aComment('a')] }],
    ['an item with fields of its own', { comments: [{ ...aComment('a'), own: { x: undefined, y: 1 } }] }],
    ['a field outside of the contract', { custom: { by: undefined, list: ['\ud800'] }, more: 'x' }],
    ['half of a character', { title: 'a\ud800b' }],
    ['what identifies it', { id: 'TASK-9', createdAt: 'x', createdBy: 'y', revision: 7 }],
    ['an invalid field', { title: '' }],
    ['an invalid item', { comments: [aComment('a'), { ...aComment('b'), text: '' }] }],
    ['several invalid fields', { title: '', status: 'x', comments: [{}] }],
    ['too many items', { comments: Array.from({ length: maxComments + 1 }, () => aComment('a')) }],
    ['no list', { comments: 'x' }],
  ])('is the same by what changes as by the whole task: %s', (_what, change) => {
    expect(next(written(), change)).toStrictEqual(next(read(), change));
  });

  it('refuses one item too many though the others are the same', () => {
    const comments = Array.from({ length: maxComments }, (_none, at) => aComment(String(at)));
    const full = frozenPlain(aTask({ comments }));
    const more = { comments: [...full.comments!, aComment('more')] };
    expect(next(full, more)).toMatchObject({ status: 400, details: { issues: [{ path: 'comments' }] } });
  });

  it('shares what does not change', () => {
    const task = written();
    const version = nextVersion(task, { comments: [...task.comments!, aComment('b')] }, { writer, now });
    expect(version.comments?.[0]).toBe(task.comments![0]);
    expect(version.custom).toBe(task.custom);
  });
});

describe('the same task', () => {
  it.each<[Record<string, unknown>, boolean]>([
    [{}, true],
    [{ revision: 5, updatedAt: 'x', updatedBy: 'y' }, true],
    [{ project: undefined }, false],
    [{ more: undefined }, true],
    [{ more: 1 }, false],
    [{ custom: { list: [1], by: 'hand', more: undefined } }, true],
    [{ comments: [] }, false],
    [{ comments: [{ ...aComment('a'), more: undefined }] }, true],
    [{ comments: [aComment('b')] }, false],
  ])('with %j: %s', (change, same) => {
    expect(isSameTask(read(), { ...read(), ...change })).toBe(same);
  });
});
