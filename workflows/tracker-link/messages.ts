import type { LinkResult } from '../../activities/trackers/activities';

/** One operation at a time on the link of a task and a work item: the id is the lock. */
export const trackerLinkWorkflowId = (linkId: string): string => `tracker-link/${linkId}`;

/** An operation that is in the stores, by its id: only what is written there is done. */
export interface TrackerLinkInput {
  linkId: string;
  operationId: string;
  /** How long a silent worker counts as alive, and the first pause before a step is tried again, in milliseconds. */
  heartbeatTimeoutMs: number;
  retryMs: number;
}

/** How an operation ended, and which one: a request may have met another one that was about to end. */
export interface TrackerLinkOutcome extends LinkResult {
  operationId: string;
}
