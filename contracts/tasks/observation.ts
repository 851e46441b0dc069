import { z } from 'zod';
import { revision, taskId, text, timestamp } from '../common';
import { nextCursor, paging } from '../query';

export const observationType = z.enum(['decision', 'blocker', 'insight', 'context']);
const score = z.number().int().min(1).max(10);

/** An observation from the work on a task. Loose: what a person added by hand is preserved. */
export const observation = z
  .looseObject({
    id: z.string().max(64),
    type: observationType.default('context'),
    content: text(5000, 1),
    /** How much it matters, 1 to 10. */
    score: score.default(5),
    timestamp: timestamp.optional(),
    agent: text(100).optional(),
  })
  .meta({ id: 'Observation' });
export type Observation = z.infer<typeof observation>;

/** `agent` defaults to the caller; `expectedRevision` is the revision of the task. */
export const observationCreate = z
  .strictObject({
    content: text(5000, 1),
    type: observationType,
    agent: text(100, 1).optional(),
    score: score.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'ObservationCreate' });

/** `q` is looked for in the content, whatever its case; `agent` is compared exactly. */
export const observationQuery = z
  .strictObject({
    q: z.string().max(200).optional(),
    type: observationType.optional(),
    agent: z.string().max(100).optional(),
    ...paging(50, 200),
  })
  .meta({ id: 'ObservationQuery' });
export type ObservationQuery = z.infer<typeof observationQuery>;

export const foundObservation = z
  .object({ observation, taskId, taskTitle: z.string() })
  .meta({ id: 'FoundObservation' });
export type FoundObservation = z.infer<typeof foundObservation>;

/** One page of the matches; `total` counts all of them. */
export const observationSearch = z
  .object({ results: z.array(foundObservation), total: z.number().int(), nextCursor })
  .meta({ id: 'ObservationSearch' });
