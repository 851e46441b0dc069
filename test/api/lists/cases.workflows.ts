import { createWorkflowRunStore, type WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import type { ApiUnderTest } from '../api-under-test';
import { done, type ListCase, posting } from './list-case';

const at = new Date(Date.UTC(2026, 0, 1)).toISOString();
const aWorkflow = (id: string) => ({ id, name: id, agents: [{ id: 'a' }], steps: [{ id: 'one', type: 'gate' }] });

const aWorkflowRun = (_id: string): WorkflowRunRecord => ({
  ...{ _id, status: 'running', workflow: { name: 'Flow', slug: 'flow' }, title: 'Flow', dot_source: '{}' },
  ...{ created_by: 'ada', created_at: at, stages: [], context: {}, guidance: [], revision: 1 },
  board: { workflowId: 'flow', version: 1, taskId: null, resumedFrom: null, steps: [] },
});
/** Workflows, their versions and their runs. */
export const workflowCases: ListCase[] = [
  {
    operation: 'listWorkflows',
    path: '/api/workflows',
    add: posting('/api/workflows', (n) => aWorkflow(`listed-${n}`)),
  },
  {
    operation: 'listWorkflowVersions',
    path: '/api/workflows/with-versions/versions',
    idOf: ({ version }) => version,
    prepare: async (board) => {
      await done(board, 'POST', '/api/workflows', aWorkflow('with-versions'));
      return '';
    },
    add: (board, n) =>
      done(board, 'PUT', '/api/workflows/with-versions', { ...aWorkflow('with-versions'), name: `V${n}` }),
  },
  ...['/api/workflows/runs', '/api/workflows/runs/active'].map((path, which) => ({
    operation: which === 0 ? 'listWorkflowRuns' : 'listActiveWorkflowRuns',
    path,
    add: async ({ api }: ApiUnderTest, n: number) => {
      const runs = await createWorkflowRunStore(api.context.database);
      await runs.begin(aWorkflowRun(`01M8C1MFKDQEWTR3Q7J7YE2${which}0${n}`));
    },
  })),
];
