/** One execution per call: a request that is repeated joins it. */
export const workflowToolCallId = (callId: string): string => `workflow-tool-call/${callId}`;

/** What the workflow has to know of a call; what is called with which arguments is in the stores. */
export interface WorkflowToolCallInput {
  callId: string;
  /** Where the catalog of the run was discovered. */
  hostId: string;
  /** How long the call may take, with the start of its server, in milliseconds. */
  timeoutMs: number;
  /** How soon a worker that died is noticed, in milliseconds. */
  heartbeatTimeoutMs: number;
}
