import { defineUpdate } from '@temporalio/workflow';

/** A message that is to be accepted and answered; its text is in the store, so that histories hold none. */
export interface SessionMessage {
  /** Made where it came in, so that a repetition is known for one. */
  id: string;
  session: string;
  /** The workflow continues as new when its history has so many events. */
  maxEvents?: number;
}

/** `missing`: there is no such session; `full`: it takes no further message. */
export type Acceptance = 'accepted' | 'missing' | 'full';

/** Returns once the message is stored, or cannot be. */
export const acceptedUpdate = defineUpdate<Acceptance>('accepted');

/** The workflow that answers one message. */
export const generationId = (session: string, message: string): string => `session/${session}/${message}`;
