import type { Remedy } from './remedy';

/** Refusals of workflows and their runs. */
export const workflowRemedies: Record<string, Remedy> = {
  WORKFLOW_ACCESS_DENIED: {
    none: 'The owner of the workflow or an administrator changes who may see, change and run it.',
  },
  HUMAN_REQUIRED: { none: 'A person approves or rejects the step, with a key or a session of their own.' },
  STEP_NOT_BLOCKED: [
    { call: 'GET /api/workflows/runs/:runId', remedy: 'Read which step of the run waits for a person, if one does.' },
  ],
  WORKFLOW_RUN_NOT_RESUMABLE: [
    { call: 'GET /api/workflows/runs/:runId', remedy: 'Read the state of the run; resume it once it has failed.' },
  ],
};
