/** How long a workflow task that died with its worker delays the workflow; Temporal's own is twice as long. */
export const workflowTaskTimeout = '5 seconds';
