import fc from 'fast-check';
import type { DependencyNode } from '../../../contracts/tasks/dependency';
import type { Task } from '../../../contracts/tasks/task';
import { aTask as stored } from '../../../test/support/factories/task';
import { blockersOf, dependencyTree, taskGraph } from './graph';

const aTask = (id: string, fields: Partial<Task> = {}) => stored({ id, title: id, ...fields });
const waiting = (id: string, ...ids: string[]): Task => aTask(id, { dependencies: { depends_on: ids } });
const activeTasks = (...tasks: Task[]) => taskGraph(tasks.map((task) => ({ task, location: 'active' })));
const shape = (nodes: DependencyNode[]): unknown[] =>
  nodes.map(({ task, children }) => (children.length > 0 ? [task.id, shape(children)] : task.id));

describe('dependency graph', () => {
  it('knows both directions of what is written on either side', () => {
    const graph = activeTasks(
      waiting('TASK-1', 'TASK-2'),
      aTask('TASK-2'),
      aTask('TASK-3', { dependencies: { blocks: ['TASK-1'] } }),
    );
    expect(graph.upstream('TASK-1').sort()).toEqual(['TASK-2', 'TASK-3']);
    expect([graph.downstream('TASK-2'), graph.downstream('TASK-3')]).toEqual([['TASK-1'], ['TASK-1']]);
  });

  it('names the blockers once, in the older form as well, and not those that are gone', () => {
    const task = aTask('TASK-1', {
      dependencies: { depends_on: ['TASK-2', 'TASK-404'] },
      blockedBy: ['TASK-2', 'TASK-3', 'TASK-1'],
    });
    const graph = activeTasks(task, aTask('TASK-2'), aTask('TASK-3'));
    expect(blockersOf(graph, task).map(({ id }) => id)).toEqual(['TASK-2', 'TASK-3']);
  });

  it('puts every task as near as it is, and leaves out what is not on the board', () => {
    const tasks = [
      waiting('TASK-1', 'TASK-2', 'TASK-3', 'TASK-9'),
      waiting('TASK-2', 'TASK-4'),
      waiting('TASK-4', 'TASK-3'),
      aTask('TASK-3'),
    ];
    const graph = taskGraph([
      ...tasks.map((task) => ({ task, location: 'active' as const })),
      { task: aTask('TASK-9'), location: 'backlog' },
    ]);
    expect(shape(dependencyTree(graph, 'TASK-1', 'upstream'))).toEqual([['TASK-2', ['TASK-4']], 'TASK-3']);
    expect(shape(dependencyTree(graph, 'TASK-3', 'downstream'))).toEqual(['TASK-1', ['TASK-4', ['TASK-2']]]);
  });

  it('goes ten steps far', () => {
    const chain = Array.from({ length: 20 }, (_, n) => waiting(`TASK-${n}`, `TASK-${n + 1}`));
    expect(JSON.stringify(shape(dependencyTree(activeTasks(...chain), 'TASK-0', 'upstream')))).toContain('["TASK-10"]');
    expect(JSON.stringify(shape(dependencyTree(activeTasks(...chain), 'TASK-0', 'upstream')))).not.toContain('TASK-11');
  });

  it('answers every task at most once, whatever circles a hand has written', () => {
    const id = fc.integer({ min: 0, max: 7 }).map((n) => `TASK-${n}`);
    const tasks = fc.uniqueArray(fc.tuple(id, fc.array(id), fc.array(id)), { selector: ([one]) => one });
    const idsIn = (nodes: DependencyNode[]): string[] =>
      nodes.flatMap(({ task, children }) => [task.id, ...idsIn(children)]);
    fc.assert(
      fc.property(tasks, (rows) => {
        const graph = activeTasks(
          ...rows.map(([one, depends_on, blocks]) => aTask(one, { dependencies: { depends_on, blocks } })),
        );
        for (const direction of ['upstream', 'downstream'] as const) {
          const ids = idsIn(dependencyTree(graph, 'TASK-0', direction));
          expect(new Set(['TASK-0', ...ids]).size).toBe(ids.length + 1);
        }
      }),
    );
  });
});
