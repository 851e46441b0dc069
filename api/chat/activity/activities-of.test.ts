import type { Task } from '../../../contracts/tasks/task';
import { aTask } from '../../../test/support/factories/task';
import { activitiesOf } from './activities-of';

const at = '2026-11-22T00:00:00.000Z';
const before: Task = aTask({ id: 'task_1', title: 'A' });
const of = (change: Partial<Task>, operation = 'update', from: Partial<Task> = {}) => {
  const old = { ...before, ...from };
  const after: Task = { ...old, ...change, revision: 2, updatedAt: '2026-11-22T00:00:01.000Z', updatedBy: 'agent:a' };
  return activitiesOf({ operation, actor: 'agent:a', before: old, after }).map(({ type, details }) => [type, details]);
};
const comment = (id: string, text = 'x') => ({ id, author: 'a', text, timestamp: at, revision: 1 });

describe('activity of a task change', () => {
  it.each([
    ['nothing', of({}), []],
    ['a new place in the list', of({ position: 3 }), []],
    ['fields', of({ title: 'B', priority: 'high' }), [['task_updated', { fields: ['priority', 'title'] }]]],
    [
      'a status',
      of({ status: 'done', startedAt: at, completedAt: at }),
      [['status_changed', { from: 'todo', to: 'done' }]],
    ],
    ['a comment', of({ comments: [comment('c1')] }), [['comment_added', { commentId: 'c1' }]]],
    [
      'one comment gone and another changed',
      of({ comments: [comment('c2', 'y')] }, 'update', { comments: [comment('c1'), comment('c2')] }),
      [
        ['comment_deleted', { commentId: 'c1' }],
        ['task_updated', { commentId: 'c2' }],
      ],
    ],
    [
      'a dependency for another',
      of({ dependencies: { depends_on: ['task_3'] } }, 'update', { dependencies: { depends_on: ['task_2'] } }),
      [
        ['dependency_added', { depends_on: 'task_3' }],
        ['dependency_removed', { depends_on: 'task_2' }],
      ],
    ],
    [
      'a promotion that sets the status',
      of({ status: 'todo' }, 'promote', { status: 'blocked' }),
      [
        ['task_promoted', undefined],
        ['status_changed', { from: 'blocked', to: 'todo' }],
      ],
    ],
  ])('reports %s', (_case, reported, expected) => {
    expect(reported).toEqual(expected);
  });

  it('names the task and who changed it', () => {
    expect(activitiesOf({ operation: 'create', actor: 'agent:a', after: before })).toEqual([
      { type: 'task_created', taskId: 'task_1', taskTitle: 'A', actor: 'agent:a' },
    ]);
  });
});
