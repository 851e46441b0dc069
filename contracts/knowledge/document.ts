import { z } from 'zod';
import { clearable, revision, text, timestamp } from '../common';
import { flag, moment, paging } from '../query';
import { severity } from './error';

/** Maximum documents: freshness is computed for all with each request. */
export const trackedDocumentLimit = 1_000;

export const documentType = z.enum(['readme', 'api-docs', 'runbook', 'architecture', 'sop', 'guide', 'other']);

export const trackedDocumentId = z
  .string()
  .regex(/^document_[0-9a-f]{12}$/, 'must look like document_0123456789ab')
  .meta({ id: 'TrackedDocumentId' });

const fields = {
  path: text(1_000, 1),
  type: documentType,
  project: text(200, 1),
  title: text(200, 1),
  /** How many days a review lasts. */
  maxAgeDays: z.number().int().min(1).max(3_650),
};

/** A document that is reviewed from time to time, and its current freshness. */
export const trackedDocument = z
  .object({
    id: trackedDocumentId,
    path: z.string(),
    type: documentType,
    project: z.string().optional(),
    title: z.string().optional(),
    maxAgeDays: fields.maxAgeDays,
    /** When it was last confirmed to be right: its last review, or when it was first tracked. */
    reviewedAt: timestamp,
    reviewer: z.string().optional(),
    ageDays: z.number().int().min(0),
    stale: z.boolean(),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'TrackedDocument' });
export type TrackedDocument = z.infer<typeof trackedDocument>;

export const trackedDocumentCreate = z
  .strictObject({ ...fields, project: fields.project.optional(), title: fields.title.optional() })
  .meta({ id: 'TrackedDocumentCreate' });
export type TrackedDocumentFields = z.infer<typeof trackedDocumentCreate> & {
  reviewedAt: string;
  reviewer?: string | undefined;
  /** Who has acknowledged that it is stale, for the review that it names. */
  acknowledged?: { reviewedAt: string; by: string; at: string } | undefined;
};

export const trackedDocumentPatch = z
  .strictObject({
    path: fields.path.optional(),
    type: fields.type.optional(),
    maxAgeDays: fields.maxAgeDays.optional(),
    project: clearable(fields.project),
    title: clearable(fields.title),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'TrackedDocumentPatch' });

/** The caller and now by default. */
export const documentReview = z
  .strictObject({ reviewer: text(100, 1).optional(), reviewedAt: moment.optional() })
  .meta({ id: 'DocumentReview' });

export const trackedDocumentQuery = z
  .strictObject({
    project: z.string().max(200).optional(),
    type: documentType.optional(),
    stale: flag.optional(),
    ...paging(100, trackedDocumentLimit),
  })
  .meta({ id: 'TrackedDocumentQuery' });

export const freshnessAlertId = z
  .string()
  .regex(/^document_[0-9a-f]{12}_[0-9a-z]{1,9}$/, 'must look like document_0123456789ab_mab12cd3')
  .meta({ id: 'FreshnessAlertId' });

/** A document that is stale: one alert from one review to the next. */
export const freshnessAlert = z
  .object({
    id: freshnessAlertId,
    documentId: trackedDocumentId,
    path: z.string(),
    title: z.string().optional(),
    type: documentType,
    project: z.string().optional(),
    severity,
    ageDays: z.number().int(),
    maxAgeDays: z.number().int(),
    /** Since when it is stale. */
    staleSince: timestamp,
    acknowledged: z.boolean(),
    acknowledgedBy: z.string().optional(),
    acknowledgedAt: timestamp.optional(),
  })
  .meta({ id: 'FreshnessAlert' });
export type FreshnessAlert = z.infer<typeof freshnessAlert>;

export const freshnessAlertQuery = z
  .strictObject({ severity: severity.optional(), acknowledged: flag.optional(), ...paging(100, trackedDocumentLimit) })
  .meta({ id: 'FreshnessAlertQuery' });

const count = z.number().int();

/** `fresh`, `stale` and `critical` are all of them; `alertCount` is how many are not acknowledged. */
export const freshnessSummary = z
  .object({ total: count, fresh: count, stale: count, critical: count, alertCount: count })
  .meta({ id: 'FreshnessSummary' });
