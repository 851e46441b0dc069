/** How long a step of a workflow that died with its worker holds the workflow up; Temporal's own is twice as long. */
export const workflowTaskTimeout = '5 seconds';
