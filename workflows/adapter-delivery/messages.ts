/** One execution for each message to a team chat or a community. */
export const adapterDeliveryId = (deliveryId: string): string => `adapter-delivery/${deliveryId}`;

/** What is sent where is in the stores. */
export interface AdapterDeliveryInput {
  deliveryId: string;
  /** How long it is tried; settings, shortened by tests. */
  timings: DeliveryTimings;
}

export interface DeliveryTimings {
  firstPauseMs: number;
  longestPauseMs: number;
  giveUpAfterMs: number;
  /** How soon a worker that died is noticed, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** A message is tried for a day, every hour or more often. */
export const usualDeliveryTimings = { longestPauseMs: 3_600_000, giveUpAfterMs: 86_400_000 };
