import { board, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { arrayPage, readAll } from '../../api/list';

export type WorkflowRun = Schema<'WorkflowRun'>;
export type WorkflowStep = WorkflowRun['steps'][number];

/** The feed has no workflow runs: what is under way is read again after this time. */
const underWayMs = 2_000;

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
  refetchInterval: ({ state }: { state: { data: Schema<'WorkflowRunSummary'>[] | undefined } }) =>
    state.data?.some(isUnderWay) ? underWayMs : false,
} as const;

export const workflowRunQuery = (runId: string) => ({
  queryKey: keys.workflowRun(runId),
  staleTime: 0,
  queryFn: () => unwrap(board.GET('/api/workflows/runs/{runId}', { params: { path: { runId } } })),
  refetchInterval: ({ state }: { state: { data: WorkflowRun | undefined } }) =>
    state.data && isUnderWay(state.data) ? underWayMs : (false as const),
});

/** The drawing of a run as it is at a revision. */
export const drawingQuery = (runId: string, revision: number) => ({
  queryKey: [...keys.workflowRun(runId), 'graph', revision],
  queryFn: () =>
    unwrap(board.GET('/api/workflows/runs/{runId}/graph', { params: { path: { runId } }, parseAs: 'text' })),
  // The drawing before it stays until the next one is read.
  placeholderData: (before: string | undefined) => before,
});
