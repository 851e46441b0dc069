import type { Task } from '../../../contracts/tasks/task';
import { countTags, lessonsOf, selectLessons } from './lessons';

const task = (id: string, fields: Partial<Task>): Task => ({
  id,
  title: `Task ${id}`,
  description: '',
  type: 'code',
  status: 'todo',
  priority: 'medium',
  subtasks: [],
  createdAt: '2026-11-20T00:00:00.000Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
  revision: 1,
  ...fields,
});
const lessons = lessonsOf([
  task('TASK-1', { lessonsLearned: 'Read the Log', lessonTags: ['logs', 'care'], project: 'shop', status: 'done' }),
  task('TASK-2', { lessonsLearned: 'Wait', lessonTags: ['logs'], sprint: 's1', updatedAt: '2026-11-21T00:00:00.000Z' }),
  task('TASK-3', {}),
  task('TASK-4', { lessonsLearned: ' \n' }),
]);
const page = { limit: 50, offset: 0 };
const found = (query: object) => selectLessons(lessons, { ...page, ...query }).body.data.map(({ taskId }) => taskId);

describe('lessons of tasks', () => {
  it('are those of the tasks that have some, the last changed first', () => {
    expect(found({})).toEqual(['TASK-2', 'TASK-1']);
    const [second, first] = lessons.map(({ lesson }) => lesson);
    expect(second).toMatchObject({ taskTitle: 'Task TASK-1', completedAt: '2026-11-20T00:00:00.000Z' });
    expect(first).not.toHaveProperty('completedAt');
  });

  it.each([
    [{ project: 'shop' }, ['TASK-1']],
    [{ sprint: 's1' }, ['TASK-2']],
    [{ tag: ['logs'] }, ['TASK-2', 'TASK-1']],
    [{ tag: ['logs', 'care'] }, ['TASK-1']],
    [{ search: 'LOG' }, ['TASK-1']],
    [{ search: 'task-2' }, ['TASK-2']],
  ])('are chosen by %j', (query, ids) => {
    expect(found(query)).toEqual(ids);
  });

  it('come in parts that state whether there are more', () => {
    const part = selectLessons(lessons, { limit: 1, offset: 0 });
    expect(part.body.pagination).toEqual({ total: 2, limit: 1, offset: 0, hasMore: true });
    expect(selectLessons(lessons, { limit: 1, offset: 1 }).body.pagination.hasMore).toBe(false);
  });

  it('have tags that are counted by task', () => {
    expect(countTags(lessons)).toEqual([
      { tag: 'logs', count: 2 },
      { tag: 'care', count: 1 },
    ]);
  });
});
