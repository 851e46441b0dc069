/** The failure type of a program that cannot be started. */
export const commandFailed = 'COMMAND';

export interface CommandInput {
  runId: string;
  stageId: string;
  /** The program and its arguments, with the values in them. */
  argv: string[];
  directory?: string;
  /** `''`: the first of the service. */
  preset: string;
  timeoutMs: number;
  /** Variables that it has beside the usual ones. */
  environment?: Record<string, string>;
  /** The JSON schema that its standard output has to fit. */
  schema?: Record<string, unknown>;
  /** How often it was run before, and itself: 1, 2 … */
  attempt: number;
}

export interface CommandResult {
  /** `null` when a signal or the end of its time ended it. */
  exitCode: number | null;
  /** The beginning of its standard output. */
  output: string;
  /** The value of an output that fits its schema; absent without one, and after a failure. */
  value?: unknown;
  /** The commit of the workspace after it, and the files that it has changed; absent in results of earlier versions. */
  snapshot?: { commit: string; touched: string[] } | { problem: string };
  /** Why it counts as failed; absent for exit code 0. */
  failure?: string;
}
