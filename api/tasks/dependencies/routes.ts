import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import {
  blockingStatus,
  dependencies,
  type DependencyCreate,
  dependencyCreate,
  dependencyGraph,
} from '../../../contracts/tasks/dependency';
import { type Task, task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { setTaskHeaders } from '../tasks/present';
import { writerOf } from '../tasks/task-changer';
import { addDependency, removeDependencies } from './change';
import type { Dependency } from './circle';
import { blockersOf, dependencyTree, isUnfinished } from './graph';
import { createGraphReader } from './read-graph';

const tag = 'dependencies';
const taskParams = z.strictObject({ taskId });
const reads = { tag, method: 'get' as const, permission: 'task:read', params: taskParams, errors: [409] };
const changes = { tag, permission: 'task:write', response: task, errors: [409] };

const dependencyQuery = z.strictObject(listPage(1000, 1000));

/** One list of both sides: first the tasks that are waited for, then those that wait. */
const [awaited, waiting] = [1, 2] as const;
type Side = typeof awaited | typeof waiting;

/** Which task of a request waits for which, and the field of the body that states it. */
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
    const boardTask = await board.get(id);
    assertFound(boardTask, 'task', id);
    return boardTask.task;
  };

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/dependencies',
      operationId: 'listDependencies',
      summary: 'List dependencies and dependents of a task',
      query: dependencyQuery,
      response: dependencies,
    },
    async ({ params, query }) => {
      const { id } = await readTask(params.taskId);
      const taskGraph = graph();
      const related = (ids: string[], key: Side) =>
        ids.map((other) => taskGraph.find(other)).flatMap((other) => (other ? [{ key, task: other }] : []));
      const all = [...related(taskGraph.upstream(id), awaited), ...related(taskGraph.downstream(id), waiting)];
      const page = slicePage(all, query, { positionOf: ({ key, task: { id: other } }) => ({ key, id: other }) });
      const on = (side: Side): Task[] => page.items.filter(({ key }) => key === side).map((one) => one.task);
      return page.answer({ depends_on: on(awaited), blocks: on(waiting) });
    },
  );

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/dependency-graph',
      operationId: 'getDependencyGraph',
      summary: 'Read the dependency graph of a task among active tasks, up to ten levels',
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
      summary: 'Check whether a dependency of a task is unfinished',
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
      summary: 'Add a dependency between two tasks; cycles are refused',
      params: taskParams,
      body: dependencyCreate,
      audit: ({ params, body }) => ({ action: 'tasks.add_dependency', resource: params.taskId, details: body }),
    },
    async (request, ctx) => {
      const { taskId: id } = request.params;
      const { dependency, field } = dependencyOf(id, request.body);
      const changed = await addDependency(board, id, { dependency, field, writer: await writerOf(board, request) });
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
      summary: 'Remove the dependency between two tasks',
      params: z.strictObject({ taskId, targetId: taskId }),
      audit: ({ params }) => ({
        action: 'tasks.remove_dependency',
        resource: params.taskId,
        details: { targetId: params.targetId },
      }),
    },
    async (request, ctx) => {
      const { taskId: id, targetId } = request.params;
      const changed = await removeDependencies(board, id, { other: targetId, writer: await writerOf(board, request) });
      setTaskHeaders(ctx, changed);
      return changed;
    },
  );
}
