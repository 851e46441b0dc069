import { z } from 'zod';
import { timestamp } from '../common';

/** The most models, and the most modes, of an agent that are stored. */
export const maxOffered = 200;

const offered = z.array(z.object({ id: z.string(), name: z.string() }));

/** What the sessions of an `acp` agent may be given; both lists are empty where it offers no choice. */
export const sessionOffer = z.object({
  models: offered,
  modes: offered,
  /** What a session has by itself, or was given. */
  model: z.string().nullable(),
  mode: z.string().nullable(),
});
export type SessionOffer = z.infer<typeof sessionOffer>;

/** The same, as a session on a host has last listed it. */
export const observedOffer = sessionOffer.extend({ observedAt: timestamp }).meta({ id: 'SessionOffer' });
export type ObservedOffer = z.infer<typeof observedOffer>;
