import type { LaunchNode, WriteNode } from '../../graph/graph';

/** What a stage launches: made by the host of the engine, once for each attempt. */
export interface LaunchInput extends LaunchNode {
  runId: string;
  stageId: string;
  /** 1, 2 …; one that was not admitted since the host was overloaded is launched again under another number. */
  attempt: number;
  /** How long it may take once it runs, in milliseconds. */
  timeoutMs?: number;
  /** The attempt whose session it continues, `null` where there is none; absent for a session of its own. */
  continues?: string | null;
  /** What was wrong with the output of the launch before, which this one is to report again. */
  repair?: { output: string; problem: string };
}

/** Which launch it is. */
export type LaunchKey = Pick<LaunchInput, 'runId' | 'stageId' | 'attempt'>;

/** `overloaded`: there is no capacity and no queue; it is launched again later. */
export type LaunchState = { state: 'waiting' | 'overloaded' } | LaunchEnd;

/** `session`: the attempt that has left a session, which may be continued. `misfit`: its output does not fit its schema. */
export type LaunchEnd = (
  { state: 'success'; output: unknown } | { state: 'failed'; reason: string; output?: string; misfit?: true }
) & { session?: string };

/** What the host of the engine does for launches; each may be repeated. */
export interface LaunchActivities {
  startLaunch(input: LaunchInput): Promise<LaunchState>;
  /** Reads how it ended; one that takes too long is stopped. */
  observeLaunch(input: LaunchInput): Promise<LaunchState>;
  /** Stops what may have been launched, and all that recovery makes of it. */
  stopLaunch(launch: LaunchKey): Promise<void>;
}

/** What a run writes with the values in it, and where; the same however often it is written. */
export interface WriteInput extends WriteNode {
  runId: string;
  stageId: string;
}

export interface WriteActivities {
  /** @returns why it cannot be written, if it cannot */
  writeOutput(input: WriteInput): Promise<{ problem?: string }>;
}
