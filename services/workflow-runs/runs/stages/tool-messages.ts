import type { ToolNode } from '../../graph/graph';

/** The tool servers whose tools a run may call. */
export interface ToolCatalogInput {
  runId: string;
  servers: string[];
}

/** The catalog of a run; `waiting` where it cannot be opened now, `failed` where it never can. Reasons are for people. */
export type ToolCatalogState = { digest: string } | { waiting: string } | { failed: string };

/** One call: the same `operation` is the same call, however often it is made. */
export interface ToolCallInput extends Pick<ToolNode, 'server' | 'tool'> {
  runId: string;
  stageId: string;
  operation: string;
  catalog: string;
  arguments: Record<string, unknown>;
  /** How long its approval or its end is waited for, in milliseconds. */
  forMs: number;
  /** The approval that is known to be waited for: any other one is reported at once. */
  approvalId?: string;
}

/** How a call has ended, in the words of its value `<node>_status`. */
export type ToolEndStatus = 'completed' | 'error' | 'failed' | 'unknown' | 'refused' | 'timeout';

export interface ToolEnd {
  /**
   * - `error`: the tool responded that it failed
   * - `failed`: it was not sent
   * - `unknown`: it was sent, and its response was lost
   * - `refused`: it may not be called so
   * - `timeout`: the stage waited long enough
   */
  status: ToolEndStatus;
  /** What it responded: JSON, or a text. */
  output?: unknown;
  /** Why it has not completed. */
  reason?: string;
  /** The board's id of the call. */
  callId?: string;
}

/** `approval`: a person has to approve it; `running`: it is being made; `waiting`: the board cannot be asked now. */
export type ToolCallProgress =
  | { state: 'approval'; approvalId: string; reason: string }
  | { state: 'running' }
  | { state: 'waiting'; reason: string }
  | { state: 'ended'; end: ToolEnd };

/** A call as the host of the engine has it. */
export interface MadeToolCall {
  id: string;
  state: 'requested' | 'dispatched' | 'completed' | 'failed' | 'outcome-unknown';
  result?:
    { content: unknown[]; structuredContent?: Record<string, unknown> | undefined; isError: boolean } | undefined;
  error?: { message: string; remedy: string } | undefined;
}

/** What the host of the engine does for calls of tools; each may be repeated. */
export interface ToolActivities {
  openToolCatalog(input: ToolCatalogInput): Promise<ToolCatalogState>;
  callTool(input: ToolCallInput): Promise<ToolCallProgress>;
  /** Takes back the approval that a call waits for. */
  withdrawToolCall(input: { runId: string; approvalId: string }): Promise<void>;
}
