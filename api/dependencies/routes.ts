import { z } from 'zod';
import { taskId } from '../../contracts/common';
import {
  blockingStatus,
  dependencies,
  dependencyCreate,
  dependencyGraph,
  type DependencyCreate,
} from '../../contracts/dependency';
import { listPage } from '../../contracts/query';
import { task, type Task } from '../../contracts/task';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import type { ApiContext } from '../context';
import { setTaskHeaders } from '../tasks/present';
import { writerOf } from '../tasks/task-changer';
import { addDependency, removeDependencies, type Dependency } from './change';
import { blockersOf, dependencyTree, isUnfinished } from './graph';
import { createGraphReader } from './read-graph';

const tag = 'dependencies';
const ofTask = z.strictObject({ taskId });
const reads = { tag, method: 'get' as const, permission: 'task:read', params: ofTask, errors: [409] };
const changes = { tag, permission: 'task:write', response: task, errors: [409] };

const dependencyQuery = z.strictObject(listPage(1000, 1000));

/** One list of both sides: first the tasks that are waited for, then those that wait. */
const [awaited, waiting] = [1, 2] as const;
type Side = typeof awaited | typeof waiting;

/** Which task of a request waits for which, and the field of the body that says so. */
function dependencyOf(id: string, body: DependencyCreate): { dependency: Dependency; field: string } {
  const { targetId, type, depends_on, blocks } = body;
  const other = targetId ?? depends_on ?? blocks ?? '';
  const waits = type === 'blocked-by' || depends_on !== undefined;
  const field = targetId === undefined ? (waits ? 'depends_on' : 'blocks') : 'targetId';
  return { dependency: waits ? { waiting: id, awaited: other } : { waiting: other, awaited: id }, field };
}

/** Tasks that wait for others (specification 1, Endpoints, Tasks). */
export function dependencyRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const graph = createGraphReader(board);
  const readTask = async (id: string): Promise<Task> => {
    const found = await board.get(id);
    assertFound(found, 'task', id);
    return found.task;
  };

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/dependencies',
      operationId: 'listDependencies',
      summary: 'List the tasks that a task waits for and those that wait for it',
      query: dependencyQuery,
      response: dependencies,
    },
    async ({ params, query }) => {
      const { id } = await readTask(params.taskId);
      const found = graph();
      const related = (ids: string[], key: Side) =>
        ids.map((other) => found.find(other)).flatMap((other) => (other ? [{ key, task: other }] : []));
      const all = [...related(found.upstream(id), awaited), ...related(found.downstream(id), waiting)];
      const page = slicePage(all, query, ({ key, task: { id: other } }) => ({ key, id: other }));
      const on = (side: Side): Task[] => page.items.filter(({ key }) => key === side).map((one) => one.task);
      return page.answer({ depends_on: on(awaited), blocks: on(waiting) });
    },
  );

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/dependency-graph',
      operationId: 'getDependencyGraph',
      summary: 'Read what a task waits for and what waits for it, ten steps far, among the active tasks',
      response: dependencyGraph,
    },
    async ({ params }) => {
      const current = await readTask(params.taskId);
      const [upstream, downstream] = (['upstream', 'downstream'] as const).map((direction) =>
        dependencyTree(graph(), current.id, direction),
      );
      return { task: current, upstream: upstream ?? [], downstream: downstream ?? [] };
    },
  );

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/blocking-status',
      operationId: 'getBlockingStatus',
      summary: 'Tell whether something that a task waits for is unfinished',
      response: blockingStatus,
    },
    async ({ params }) => {
      const all = blockersOf(graph(), await readTask(params.taskId));
      const blockers = all.filter(isUnfinished).map(({ id, title, status }) => ({ id, title, status }));
      const completedBlockers = all.filter((blocker) => !isUnfinished(blocker)).map(({ id, title }) => ({ id, title }));
      return { isBlocked: blockers.length > 0, blockers, completedBlockers };
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/dependencies',
      operationId: 'addDependency',
      summary: 'Make a task wait for another, or another for it; a circle is refused',
      params: ofTask,
      body: dependencyCreate,
      audit: ({ params, body }) => ({ action: 'tasks.add_dependency', resource: params.taskId, details: body }),
    },
    async (request, ctx) => {
      const { taskId: id } = request.params;
      const { dependency, field } = dependencyOf(id, request.body);
      const changed = await addDependency(board, id, dependency, field, await writerOf(board, request));
      setTaskHeaders(ctx, changed);
      return changed;
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/dependencies/:targetId',
      operationId: 'removeDependency',
      summary: 'Let neither of two tasks wait for the other any more',
      params: z.strictObject({ taskId, targetId: taskId }),
      audit: ({ params }) => ({
        action: 'tasks.remove_dependency',
        resource: params.taskId,
        details: { targetId: params.targetId },
      }),
    },
    async (request, ctx) => {
      const { taskId: id, targetId } = request.params;
      const changed = await removeDependencies(board, id, targetId, await writerOf(board, request));
      setTaskHeaders(ctx, changed);
      return changed;
    },
  );
}
