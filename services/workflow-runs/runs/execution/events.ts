import type { LogEntry } from '../../../../stores/port/collection';
import type { RunStatus } from '../run';

/** The events of a run for its watchers: the name of the variant, and its fields. */
export interface RunEvents {
  RunStarted: { name: string; goal?: string };
  RunPaused: Record<string, never>;
  RunUnpaused: Record<string, never>;
  RunCompleted: { duration_ms: number };
  RunFailed: { duration_ms: number; error: string };
  RunCancelled: { duration_ms: number };
  StageStarted: { stage_id: string; node_id: string; name: string; kind: string };
  StageRetrying: { stage_id: string; attempt: number; error: string };
  StageFallback: { stage_id: string; model: string; error: string };
  StageCompleted: { stage_id: string; node_id: string; duration_ms: number; notes?: string; stop_reason?: string };
  StageFailed: { stage_id: string; node_id: string; duration_ms: number; error: string };
  StageCancelled: { stage_id: string; node_id: string };
  ParallelStarted: { node_id: string; branches: string[] };
  ParallelBranchCompleted: { node_id: string; branch: string; success: boolean };
  ParallelCompleted: { node_id: string; success: boolean };
  InterviewStarted: { stage_id: string; question_id: string; text: string };
  InterviewCompleted: { stage_id: string; question_id: string; answer: string };
  InterviewTimedOut: { stage_id: string; question_id: string };
  WebhookWaiting: { stage_id: string; expires_at?: string };
  WebhookReceived: { stage_id: string; characters: number };
  WebhookTimedOut: { stage_id: string };
  MapStarted: { stage_id: string; items: number };
  MapCompleted: { stage_id: string; failed: number };
  ChildRunStarted: { stage_id: string; run_id: string };
  ChildRunEnded: { stage_id: string; run_id: string; status: string };
  /** The workspace has no commit after a command. */
  SnapshotFailed: { stage_id: string; reason: string };
  AgentWaiting: { stage_id: string; reason: string };
  AgentLaunched: { stage_id: string; task_id: string; attempt_id: string };
  AgentEnded: { stage_id: string; attempt_id: string; status: string };
  AgentFallback: { stage_id: string; agent: string; error: string };
  /** A call of a tool waits for the approval of a person, or for the board. */
  ToolWaiting: { stage_id: string; approval_id?: string; reason: string };
  /** A call of a model's, also one that was refused. */
  ToolEnded: { stage_id: string; tool: string; status: string; reason?: string };
  Steered: { text: string };
  /** Child runs that have as much guidance as they take. */
  ChildRunsNotSteered: { run_ids: string[] };
  CheckpointSaved: { node_id: string; checkpoint_id: string };
}
export type RunEventName = keyof RunEvents;

/** One event, tagged by the name of its variant: `{"StageStarted": {...}}`. */
export type RunEvent = { [Name in RunEventName]: Record<Name, RunEvents[Name]> }[RunEventName];

/** The status that a run has after an event; `undefined` unless it is the last event of a run. */
export function endOf(event: RunEvent): RunStatus | undefined {
  if ('RunCompleted' in event) {
    return 'completed';
  }
  return 'RunFailed' in event ? 'failed' : 'RunCancelled' in event ? 'cancelled' : undefined;
}

export interface RunEventEntry extends LogEntry {
  at: string;
  event: RunEvent;
}
