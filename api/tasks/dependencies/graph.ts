import type { DependencyNode } from '../../../contracts/tasks/dependency';
import type { Task, TaskLocation } from '../../../contracts/tasks/task';

/** The dependencies between the tasks of a board as they are at one moment. */
export interface TaskGraph {
  find(id: string): Task | undefined;
  /** Whether the task is on the active board. */
  isActive(id: string): boolean;
  /** The ids a task waits for: its own `depends_on` and `blockedBy`, and the tasks whose `blocks` name it. Also of tasks that are gone. */
  upstream(id: string): string[];
  /** The ids that wait for a task: the reverse. */
  downstream(id: string): string[];
}

/** The ids that a task's own file states it waits for; `blockedBy` is the older form of `depends_on`. */
export const awaitedBy = ({ dependencies, blockedBy }: Task): string[] => [
  ...(dependencies?.depends_on ?? []),
  ...(blockedBy ?? []),
];

/** Builds the graph from tasks and the folder each is in. */
export function taskGraph(tasks: Iterable<{ task: Task; location: TaskLocation }>): TaskGraph {
  const located = new Map<string, { task: Task; location: TaskLocation }>();
  const upstream = new Map<string, Set<string>>();
  const downstream = new Map<string, Set<string>>();
  const waits = (waiting: string, awaited: string): void => {
    upstream.set(waiting, (upstream.get(waiting) ?? new Set()).add(awaited));
    downstream.set(awaited, (downstream.get(awaited) ?? new Set()).add(waiting));
  };
  for (const place of tasks) {
    const { id, dependencies } = place.task;
    located.set(id, place);
    for (const awaited of awaitedBy(place.task)) {
      waits(id, awaited);
    }
    for (const waiting of dependencies?.blocks ?? []) {
      waits(waiting, id);
    }
  }
  return {
    find: (id) => located.get(id)?.task,
    isActive: (id) => located.get(id)?.location === 'active',
    upstream: (id) => [...(upstream.get(id) ?? [])],
    downstream: (id) => [...(downstream.get(id) ?? [])],
  };
}

/** The tasks a task waits for, whether they are done or not. */
export function blockersOf(graph: TaskGraph, task: Task): Task[] {
  const ids = new Set([...awaitedBy(task), ...graph.upstream(task.id)]);
  ids.delete(task.id);
  return [...ids].map((id) => graph.find(id)).filter((blocker) => blocker !== undefined);
}

export const isUnfinished = ({ status }: Task): boolean => status !== 'done';

/** Limits of the distance from the requested task, and of the tasks of one direction. */
const maxDepth = 10;
const maxTasks = 1000;

/**
 * The active tasks that can be reached from a task in one direction, each once and as near to it as it is. Circles, which
 * only a hand can write, end where they began.
 */
export function dependencyTree(graph: TaskGraph, root: string, direction: 'upstream' | 'downstream'): DependencyNode[] {
  const visited = new Set([root]);
  const nearest: DependencyNode[] = [];
  let level = [{ id: root, children: nearest }];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const { id, children } of level) {
      for (const reached of graph[direction](id)) {
        const task = graph.isActive(reached) ? graph.find(reached) : undefined;
        if (!task || visited.has(reached) || visited.size > maxTasks) {
          continue;
        }
        visited.add(reached);
        const node: DependencyNode = { task, children: [] };
        children.push(node);
        next.push({ id: reached, children: node.children });
      }
    }
    level = next;
  }
  return nearest;
}
