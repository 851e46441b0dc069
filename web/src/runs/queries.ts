import { queryOptions } from '@tanstack/react-query';
import { board, type LineComment, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { arrayPage, readAll } from '../api/list';

export const runStatusQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.run(taskId),
    queryFn: () => unwrap(board.GET('/api/agents/{taskId}/status', { params: { path: { taskId } } })),
  });

export const attemptsQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.attempts(taskId),
    queryFn: async () =>
      (await unwrap(board.GET('/api/agents/{taskId}/attempts', { params: { path: { taskId }, query: { limit: 50 } } })))
        .attempts,
  });

export const attemptQuery = (taskId: string, attemptId: string) =>
  queryOptions({
    queryKey: keys.attempt(taskId, attemptId),
    queryFn: () =>
      unwrap(board.GET('/api/agents/{taskId}/attempts/{attemptId}', { params: { path: { taskId, attemptId } } })),
  });

export const reviewQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.review(taskId),
    queryFn: () => unwrap(board.GET('/api/tasks/{taskId}/review', { params: { path: { taskId } } })),
  });

export const lineCommentsQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.lineComments(taskId),
    queryFn: (): Promise<LineComment[]> =>
      readAll((cursor) => {
        const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) };
        return arrayPage<LineComment>(
          board.GET('/api/diff/{taskId}/comments', { params: { path: { taskId }, query } }),
        );
      }),
  });

/** The files that a task changes; `from` and `to` as the API names states of a worktree. */
export const diffQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.diff(taskId),
    // The worktree changes without a report: read again whenever the view is opened.
    staleTime: 0,
    queryFn: async () => {
      const first = await unwrap(
        board.GET('/api/diff/{taskId}', { params: { path: { taskId }, query: { limit: 500 } } }),
      );
      const files = [...first.files];
      let { nextCursor } = first;
      while (nextCursor !== undefined && files.length < 5_000) {
        const query = { limit: 500, cursor: nextCursor };
        const page = await unwrap(board.GET('/api/diff/{taskId}', { params: { path: { taskId }, query } }));
        files.push(...page.files);
        nextCursor = page.nextCursor;
      }
      return { ...first, files };
    },
  });

export const fileDiffQuery = (taskId: string, path: string, object: string | undefined) =>
  queryOptions({
    queryKey: [...keys.diff(taskId), path, object ?? ''],
    queryFn: () => unwrap(board.GET('/api/diff/{taskId}/file', { params: { path: { taskId }, query: { path } } })),
  });
