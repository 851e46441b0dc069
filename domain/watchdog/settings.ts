import type { WatchdogActionKind, WatchdogConfidence } from '../../contracts/runs/watchdog';

/** When the watchdog speaks up, and how often it may act by itself. */
export interface WatchdogSettings {
  /** How many of the latest events are read. */
  windowEvents: number;
  /** The same action, one after the other. */
  identicalRepetitions: number;
  /** A cycle of two to `cycleLength` actions, `cycleRepeats` times. */
  cycleLength: number;
  cycleRepeats: number;
  /** Failed edits of one file without one that worked. */
  failedEdits: number;
  /** No progress: this many events and this long, or that many tokens, or that much money. */
  noProgress: { events: number; elapsedMs: number; tokens: number; costUsd: number };
  /** What the watchdog may do without a person. */
  automatedActions: { perTurn: number; perRun: number };
  /** The most findings that are recorded of one run; a run that has more is no longer described by them. */
  findingsPerRun: number;
}

export const defaultWatchdogSettings: WatchdogSettings = {
  windowEvents: 36,
  identicalRepetitions: 3,
  cycleLength: 4,
  cycleRepeats: 3,
  failedEdits: 3,
  noProgress: { events: 8, elapsedMs: 120_000, tokens: 20_000, costUsd: 2 },
  automatedActions: { perTurn: 2, perRun: 6 },
  findingsPerRun: 200,
};

/** The more certain, the more is done. */
export const actionFor: Readonly<Record<WatchdogConfidence, WatchdogActionKind>> = {
  low: 'warn',
  medium: 'require-observation',
  high: 'pause',
};

/** How certain a detector is that saw `ratio` times its threshold; nothing below it. */
export function confidenceOf(ratio: number): WatchdogConfidence | undefined {
  if (ratio >= 2) {
    return 'high';
  }
  if (ratio >= 1.5) {
    return 'medium';
  }
  return ratio >= 1 ? 'low' : undefined;
}
