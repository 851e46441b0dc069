import type { Task, TaskQuery } from '../../../contracts/tasks/task';
import { aTask } from '../../../test/support/factories/task';
import { selectTasks } from './query';

const fieldsOfTasks: Partial<Task>[] = [
  { id: 'TASK-1', title: 'Login', priority: 'high', project: 'site', description: 'the Form' },
  { id: 'TASK-2', title: 'Logout', status: 'done', type: 'bug', assignee: 'anna', sprint: 's1' },
  { id: 'TASK-3', title: 'Search', status: 'blocked', agent: 'tester', project: 'Site' },
];
const tasks = fieldsOfTasks.map(aTask);

const idsFor = (query: TaskQuery) => selectTasks(tasks, query).tasks.map(({ id }) => id);

describe('task query', () => {
  test.each<[TaskQuery, string[]]>([
    [{}, ['TASK-1', 'TASK-2', 'TASK-3']],
    [{ status: ['done', 'blocked'] }, ['TASK-2', 'TASK-3']],
    [{ status: ['done', 'blocked'], type: ['code'] }, ['TASK-3']],
    [{ priority: ['high', 'low'] }, ['TASK-1']],
    [{ project: 'site' }, ['TASK-1']],
    [{ assignee: 'anna', sprint: 's1' }, ['TASK-2']],
    [{ agent: 'tester' }, ['TASK-3']],
    [{ q: 'LOG' }, ['TASK-1', 'TASK-2']],
    [{ q: 'form' }, ['TASK-1']],
    [{ q: 'task-3' }, ['TASK-3']],
    [{ q: '.*' }, []],
  ])('%j finds %j', (query, ids) => {
    expect(idsFor(query)).toEqual(ids);
  });

  test('pages, and counts all matches', () => {
    expect(selectTasks(tasks, { limit: 2 })).toMatchObject({ tasks: [{ id: 'TASK-1' }, { id: 'TASK-2' }], total: 3 });
    expect(selectTasks(tasks, { limit: 2, page: 2 })).toMatchObject({ tasks: [{ id: 'TASK-3' }], total: 3 });
    expect(selectTasks(tasks, { page: 2 })).toEqual({ tasks: [], total: 3 });
  });

  test('a page without a limit has 50 tasks, a list without a page 10,000', () => {
    const [first] = tasks;
    const many = Array.from({ length: 12_000 }, () => first!);
    expect(selectTasks(many, { page: 1 }).tasks).toHaveLength(50);
    expect(selectTasks(many, {})).toMatchObject({ tasks: { length: 10_000 }, total: 12_000 });
  });
});
