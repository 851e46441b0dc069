import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { paging } from '../query';

/** Specification 1, Enumerations. */
export const reflectionCategory = z.enum(['session', 'agent', 'team', 'policy', 'template']);
export const reflectionSource = z.enum([
  'task-run',
  'chat-message',
  'error',
  'user-correction',
  'review-feedback',
  'task-observation',
]);

/** `deleted` is soft: the record stays, and is listed by a query for this status. */
export const reflectionStatus = z.enum(['pending', 'accepted', 'rejected', 'merged', 'deleted']);

/** The target whose acceptance changes a task. All others are written down for people to act on. */
export const taskLesson = 'task-lesson';

export const reflectionId = z
  .string()
  .regex(/^reflection_[0-9a-f]{12}$/, 'must look like reflection_0123456789ab')
  .meta({ id: 'ReflectionId' });

const tag = text(50, 1);
const prose = text(5_000);
const name = text(100, 1);

const reflectionFields = {
  category: reflectionCategory,
  /** What it may become when it is accepted: `task-lesson`, or any other name. */
  promotionTarget: slug,
  /** 0 to 1. */
  confidence: z.number().min(0).max(1),
  source: z.strictObject({ kind: reflectionSource, taskId: taskId.optional(), messageId: text(100, 1).optional() }),
  summary: text(2_000, 1),
  previousApproach: prose.optional(),
  correction: prose.optional(),
  nextAttempt: prose.optional(),
  evidence: z.array(z.strictObject({ kind: text(100, 1), title: text(200, 1), content: text(10_000) })).max(20),
  tags: z.array(tag).max(20),
};

export const reflectionCreate = z
  .strictObject({
    ...reflectionFields,
    evidence: reflectionFields.evidence.default([]),
    tags: reflectionFields.tags.default([]),
  })
  .meta({ id: 'ReflectionCreate' });
export type ReflectionCreate = z.output<typeof reflectionCreate>;

/** A reviewer's decision about a reflection. */
export const reflectionReview = z.object({
  reviewedBy: z.string(),
  reviewerNote: z.string().optional(),
  reviewedAt: timestamp,
});

/** A lesson, which has to be reviewed before it counts. No secrets, no names of home directories. */
export const reflection = z
  .object({
    id: reflectionId,
    ...reflectionFields,
    /** Redacting may make a text longer than a caller may send it. */
    summary: z.string(),
    previousApproach: z.string().optional(),
    correction: z.string().optional(),
    nextAttempt: z.string().optional(),
    evidence: z.array(z.object({ kind: z.string(), title: z.string(), content: z.string() })),
    tags: z.array(z.string()),
    status: reflectionStatus,
    review: reflectionReview.optional(),
    /** The reflection that this one was merged into. */
    mergedInto: reflectionId.optional(),
    /** What became of an accepted one: a lesson of its task that is about to be there, or is, or people's own business. */
    promotion: z.enum(['pending', 'done', 'manual']).optional(),
    createdAt: timestamp,
    createdBy: z.string(),
  })
  .meta({ id: 'Reflection' });
export type Reflection = z.infer<typeof reflection>;

/** `reviewedBy` defaults to the caller. */
const reviewing = { reviewedBy: name.optional(), reviewerNote: text(2_000).optional() };

/** The target may be another one than was proposed. */
export const reflectionAccept = z
  .strictObject({ ...reviewing, promotionTarget: slug.optional() })
  .meta({ id: 'ReflectionAccept' });
export const reflectionReject = z.strictObject(reviewing).meta({ id: 'ReflectionReject' });
export const reflectionMerge = z.strictObject({ ...reviewing, targetId: reflectionId }).meta({ id: 'ReflectionMerge' });

export const reflectionQuery = z
  .strictObject({
    status: reflectionStatus.optional(),
    category: reflectionCategory.optional(),
    sourceKind: reflectionSource.optional(),
    taskId: taskId.optional(),
    ...paging(50, 200),
  })
  .meta({ id: 'ReflectionQuery' });
export type ReflectionQuery = z.output<typeof reflectionQuery>;
