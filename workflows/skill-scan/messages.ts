/** The schedule that scans the skills of a workspace, and the id of what it starts. */
export const skillScanWorkflowId = 'skill-scan';
