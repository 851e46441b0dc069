/** The failure type of an agent that the board does not launch. */
export const agentFailed = 'AGENT';

/** A launch of a stage. The same `key` is the same launch. */
export interface AgentLaunch {
  runId: string;
  stageId: string;
  key: string;
  /** The task it works on, or what one is made of, once for the stage. */
  task: { id: string } | { title: string; description: string; repository?: string };
  /** The first launch of the run, whose tree this one joins. */
  root?: string;
  agent?: string;
  profile?: string;
  sandbox?: string;
  model?: string;
  phase?: string;
  commits?: string;
}

/**
 * What came of a launch: launched or queued by the board, refused for now, not known, since the board did not answer, or refused for
 * good. `reason` and `failed` are for people.
 */
export type AgentLaunched =
  | { taskId: string; attemptId: string }
  | { taskId?: string; refused: string; reason: string; retryAfterMs?: number }
  | { taskId?: string; unknown: true; reason: string }
  | { failed: string };

/** An attempt of the board that a stage waits for. */
export interface AgentAttempt {
  runId: string;
  stageId: string;
  taskId: string;
  attemptId: string;
}

export type AgentState = 'waiting' | 'running' | 'ended';

/** Where an attempt, or the one that followed it, is. */
export interface AgentProgress {
  attemptId: string;
  state: AgentState;
  /** What the attempts have used that have ended since. */
  used: AgentUsage;
  /** The agent of the attempt. */
  agent: string;
  /** How it has ended. */
  end?: AgentEnd;
}

export interface AgentEnd {
  /** As the board has it: `success`, `partial`, `blocked`, `failed`, `interrupted`, or `refused`. */
  status: string;
  summary: string;
  /** The head of its work; absent where it has none. */
  commit?: string;
}

/** Tokens, and what they cost in USD as the agents report it. */
export interface AgentUsage {
  input_tokens: number;
  output_tokens: number;
  cost: number;
}
