import { createHash } from 'node:crypto';

/** A run of a workflow that calls tools. */
export interface ToolHolder {
  /** Distinguishes the runs of the board from those of each caller of the API. */
  holder: string;
  runId: string;
  /** In whose name it calls, as the audit log names actors. */
  actor: string;
}

/** A run of a workflow of the board, which calls in the name of its starter. */
export const boardToolHolder = (runId: string, actor: string): ToolHolder => ({
  holder: `board-run/${runId}`,
  runId,
  actor,
});

/** A run of another service: the same id from another caller is another run. */
export const callersToolHolder = (runId: string, actor: string): ToolHolder => ({
  holder: `run/${createHash('sha256').update(actor).digest('hex').slice(0, 32)}/${runId}`,
  runId,
  actor,
});
