/** One execution per call: a request that is repeated joins it. */
export const toolCallWorkflowId = (callId: string): string => `tool-call/${callId}`;

/** What the workflow has to know of a call; what is called with which arguments is in the stores. */
export interface ToolCallInput {
  attemptId: string;
  callId: string;
  /** How long the call may take, with the start of its server, in milliseconds. */
  timeoutMs: number;
  /** How soon a worker that died is noticed, in milliseconds. */
  heartbeatTimeoutMs: number;
}

export type ToolCallRef = Pick<ToolCallInput, 'attemptId' | 'callId'>;
