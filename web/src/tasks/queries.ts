import { queryOptions } from '@tanstack/react-query';
import { board, type Task, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { readAll } from '../api/list';

const pageSize = 100;

/** Every active task; the feed keeps the list current. */
export const tasksQuery = queryOptions({
  queryKey: keys.tasks,
  queryFn: (): Promise<Task[]> =>
    readAll(async (cursor) => {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const { tasks, nextCursor } = await unwrap(board.GET('/api/tasks', { params: { query } }));
      return { items: tasks, next: nextCursor };
    }, 100),
});

/** A list of tasks that are not on the board. */
export interface ListQuery {
  queryKey: readonly string[];
  staleTime: number;
  queryFn: () => Promise<Task[]>;
}

export const backlogQuery: ListQuery = {
  queryKey: keys.backlog,
  staleTime: 0,
  queryFn: () =>
    readAll(async (cursor) => {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const { tasks, nextCursor } = await unwrap(board.GET('/api/backlog', { params: { query } }));
      return { items: tasks, next: nextCursor };
    }),
};

export const archiveQuery: ListQuery = {
  queryKey: keys.archive,
  staleTime: 0,
  queryFn: () =>
    readAll(async (cursor) => {
      const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
      const { tasks, nextCursor } = await unwrap(board.GET('/api/tasks/archived', { params: { query } }));
      return { items: tasks, next: nextCursor };
    }),
};

export const taskQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.task(taskId),
    queryFn: () => unwrap(board.GET('/api/tasks/{taskId}', { params: { path: { taskId } } })),
  });

export const dependenciesQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.dependencies(taskId),
    queryFn: () => unwrap(board.GET('/api/tasks/{taskId}/dependencies', { params: { path: { taskId } } })),
  });
