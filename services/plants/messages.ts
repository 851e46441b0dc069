import { defineUpdate } from '@temporalio/workflow';

/** A plant on its way into the store; the number as a text, because histories are JSON. */
export interface PlantCreation {
  user: string;
  id: string;
  name: string;
  tag?: string;
  delivery: DeliveryTimings;
}

/** How long a receiver is tried, in milliseconds; settings, shortened by tests. */
export interface DeliveryTimings {
  firstPauseMs: number;
  longestPauseMs: number;
  giveUpAfterMs: number;
}

export type Created = { created: boolean };

/** Answers once the plant is stored, or cannot be because its number is taken. */
export const createdUpdate = defineUpdate<Created>('created');
