import type { Task } from '../../api/client';
import { columnsOf, filterTasks, positionAt } from './columns';

const aTask = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  title: `Task ${id}`,
  description: '',
  status: 'todo',
  priority: 'medium',
  type: 'code',
  subtasks: [],
  revision: 1,
  createdAt: '2026-02-01T00:00:00.000Z',
  updatedAt: '2026-02-01T00:00:00.000Z',
  ...fields,
});

describe('columns of the board', () => {
  const tasks = [
    aTask('placed-1', { position: 1 }),
    aTask('older', { createdAt: '2026-02-01T00:00:00.000Z' }),
    aTask('placed-0', { position: 0 }),
    aTask('newer', { createdAt: '2026-02-02T00:00:00.000Z' }),
  ];

  it('have the newest that were not placed first, then those that were, in their order', () => {
    expect(columnsOf(tasks).todo.map(({ id }) => id)).toEqual(['newer', 'older', 'placed-0', 'placed-1']);
  });

  it.each([0, 1, 2, 3])('have a task at the index %d that it was placed at', (index) => {
    const others = columnsOf(tasks).todo.filter(({ id }) => id !== 'older');
    const moved = aTask('older', { position: positionAt(others, index) });
    expect(columnsOf([...others, moved]).todo.findIndex(({ id }) => id === 'older')).toBe(index);
  });

  it('have a task in an empty column at 0', () => {
    expect(positionAt([], 0)).toBe(0);
  });

  it('are filtered by every word, the agent and the project', () => {
    const all = [
      aTask('a', { title: 'Add Slugify', project: 'shop' }),
      aTask('b', { title: 'Add clamp', agent: 'codex' }),
    ];
    expect(filterTasks(all, { q: 'slug ADD' }).map(({ id }) => id)).toEqual(['a']);
    expect(filterTasks(all, { agent: 'codex' }).map(({ id }) => id)).toEqual(['b']);
    expect(filterTasks(all, { q: 'add', project: 'shop' }).map(({ id }) => id)).toEqual(['a']);
  });
});
