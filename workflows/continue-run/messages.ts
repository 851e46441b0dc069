/** One execution for each run that ended: the run that continues it has an id of its own. */
export const continueRunId = (attemptId: string): string => `continuation/${attemptId}`;

export interface ContinueRunInput {
  /** The run that ended; its continuation is in the stores. */
  attemptId: string;
}
