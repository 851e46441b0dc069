import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from '../common';
import { moment, paging } from '../query';

export const scoringProfileLimit = 200;

/** How the scores of the scorers become one (docs/use/governance/scoring.md). */
export const compositeMethod = z.enum(['weightedAverage', 'minimum', 'maximum', 'geometricMean']);
export type CompositeMethod = z.infer<typeof compositeMethod>;

const scorer = {
  id: slug,
  name: text(200, 1),
  weight: z.number().min(0).max(1_000).default(1),
  /** What is scored: the output, or the action. */
  target: z.enum(['output', 'action']).default('output'),
};

/** 1 where the pattern matches, 0 where it does not; the other way round with `invert`. */
const regexMatch = z.strictObject({
  ...scorer,
  type: z.literal('RegexMatch'),
  /** As in JavaScript. */
  pattern: text(500, 1),
  flags: z
    .string()
    .max(4)
    .regex(/^(?!.*(.).*\1)[imsu]*$/, 'i, m, s and u, each once')
    .default(''),
  invert: z.boolean().default(false),
});

/** `all`: 1 when every keyword occurs. `any`: 1 when one is. `share`: how many of them are. */
const keywordContains = z.strictObject({
  ...scorer,
  type: z.literal('KeywordContains'),
  keywords: z.array(text(200, 1)).min(1).max(100),
  match: z.enum(['all', 'any', 'share']).default('share'),
  caseSensitive: z.boolean().default(false),
  invert: z.boolean().default(false),
});

export const scorerDefinition = z.discriminatedUnion('type', [regexMatch, keywordContains]).meta({ id: 'Scorer' });
export type Scorer = z.output<typeof scorerDefinition>;

/** Ids are unique, and some scorer has a weight. */
const scorers = z
  .array(scorerDefinition)
  .min(1)
  .max(20)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'two scorers have the same id')
  .refine((all) => all.some(({ weight }) => weight > 0), 'no scorer has a weight');

export const scoringProfileId = z
  .string()
  .regex(/^scoring_[0-9a-f]{12}$/, 'must look like scoring_0123456789ab')
  .meta({ id: 'ScoringProfileId' });

export const scoringProfileInput = z
  .strictObject({ name: text(200, 1), description: text(2_000).optional(), compositeMethod, scorers })
  .meta({ id: 'ScoringProfileInput' });
export type ScoringProfileFields = z.output<typeof scoringProfileInput>;

/** How work is scored (specification 2, Scoring profile). */
export const scoringProfile = z
  .object({
    id: scoringProfileId,
    ...scoringProfileInput.shape,
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ScoringProfile' });

export const scoringProfileQuery = z.strictObject(paging(50, scoringProfileLimit)).meta({ id: 'ScoringProfileQuery' });

export const scoringRequest = z
  .strictObject({
    profileId: scoringProfileId,
    output: text(100_000),
    action: text(10_000).optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
  })
  .meta({ id: 'ScoringRequest' });

export const scorerResult = z
  .object({
    scorerId: z.string(),
    name: z.string(),
    type: z.string(),
    weight: z.number(),
    /** 0 to 1. */
    score: z.number().min(0).max(1),
    explanation: z.string(),
  })
  .meta({ id: 'ScorerResult' });
export type ScorerResult = z.infer<typeof scorerResult>;

/** One piece of work that was scored. The work itself is not stored. */
export const scoringEvaluation = z
  .object({
    id: z.string(),
    profileId: scoringProfileId,
    /** Of the profile when it was used. */
    profileRevision: revision,
    score: z.number().min(0).max(1),
    compositeMethod,
    scorerResults: z.array(scorerResult),
    agent: slug.optional(),
    taskId: taskId.optional(),
    evaluatedAt: timestamp,
    evaluatedBy: z.string(),
  })
  .meta({ id: 'ScoringEvaluation' });
export type ScoringEvaluation = z.infer<typeof scoringEvaluation>;

export const scoringHistoryQuery = z
  .strictObject({
    profileId: scoringProfileId.optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
    since: moment.optional(),
    until: moment.optional(),
    ...paging(50, 500),
  })
  .meta({ id: 'ScoringHistoryQuery' });
export type ScoringHistoryQuery = z.output<typeof scoringHistoryQuery>;
