import { board, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { arrayPage, readAll } from '../../api/list';

export type WorkflowRun = Schema<'WorkflowRun'>;
export type WorkflowStep = WorkflowRun['steps'][number];

export const isUnderWay = ({ status }: Pick<WorkflowRun, 'status'>): boolean =>
  ['pending', 'running', 'blocked'].includes(status);

export const workflowsQuery = {
  queryKey: keys.workflows,
  staleTime: 0,
  queryFn: () =>
    readAll((cursor) =>
      arrayPage(
        board.GET('/api/workflows', {
          params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
        }),
      ),
    ),
};

export const workflowRunsQuery = {
  queryKey: keys.workflowRuns,
  staleTime: 0,
  queryFn: () => unwrap(board.GET('/api/workflows/runs', { params: { query: { limit: 50 } } })),
} as const;

export const workflowRunQuery = (runId: string) => ({
  queryKey: keys.workflowRun(runId),
  staleTime: 0,
  queryFn: () => unwrap(board.GET('/api/workflows/runs/{runId}', { params: { path: { runId } } })),
});

/** The drawing of a run as it is at a revision. */
export const drawingQuery = (runId: string, revision: number) => ({
  queryKey: [...keys.workflowRun(runId), 'graph', revision],
  queryFn: () =>
    unwrap(board.GET('/api/workflows/runs/{runId}/graph', { params: { path: { runId } }, parseAs: 'text' })),
  // The drawing before it stays until the next one is read.
  placeholderData: (before: string | undefined) => before,
});
