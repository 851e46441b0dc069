/** What one goal may hold: it is one document, which is written whole. */
export const goalLimits = {
  /** Runs, with those that they launch. */
  runs: 500,
  /** Changes of state by callers. Those that follow from runs are fewer than the runs and these together. */
  transitions: 500,
  evidence: 1_000,
} as const;
