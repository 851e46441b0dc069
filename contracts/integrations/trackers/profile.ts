import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';
import { externalWorkItem, workItemId } from './external-work-item';
import { maxSchemaText, projectProblem, trackerFieldId, trackerProject, trackerProvider } from './tracker';

/** A name of a tracker, as its schema has it. */
const trackerName = text(maxSchemaText, 1);

/** The id of a field: it is the name of a field in the stores too. */
const fieldId = z.string().regex(trackerFieldId, 'must be the id of a field of the tracker');

/** What a field of a new work item is filled with; `literal`: with `literalValue`. */
export const mappingSource = z.enum(['title', 'description', 'priority', 'status', 'literal']);

export const fieldMapping = z
  .strictObject({
    trackerFieldId: fieldId,
    source: mappingSource,
    /** Whether nothing is created where the source is empty. */
    required: z.boolean().default(false),
    /** Several values are separated by commas. */
    literalValue: text(2_000, 1).optional(),
  })
  .refine(({ source, literalValue }) => (source === 'literal') === (literalValue !== undefined), {
    path: ['literalValue'],
    message: 'is required with the source literal, and is for that only',
  })
  .meta({ id: 'TrackerFieldMapping' });
export type FieldMapping = z.infer<typeof fieldMapping>;

const profileFields = {
  name: text(100, 1),
  provider: trackerProvider,
  enabled: z.boolean().default(true),
  defaultWorkItemType: trackerName,
  defaultProjectPath: trackerProject,
  defaultAreaPath: trackerName.optional(),
  defaultIterationPath: trackerName.optional(),
  fieldMappings: z.array(fieldMapping).min(1).max(50),
  /** The text field of the work item that names the task. */
  backlinkFieldId: fieldId.optional(),
};

export const trackerProfilePut = z
  .strictObject({ ...profileFields, id: slug.optional(), expectedRevision: revision.optional() })
  .superRefine(({ provider, defaultProjectPath }, context) => {
    const message = projectProblem(provider, defaultProjectPath);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', path: ['defaultProjectPath'], message });
    }
  })
  .meta({ id: 'TrackerProfilePut' });

/** How tasks become work items of a project. */
export const trackerProfile = z
  .object({ id: slug, ...profileFields, revision, createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'TrackerProfile' });
export type TrackerProfile = z.infer<typeof trackerProfile>;
export type TrackerProfileFields = Omit<TrackerProfile, 'id' | 'revision' | 'createdAt' | 'updatedAt'>;

/** The most profiles of a workspace. */
export const maxTrackerProfiles = 100;
export const trackerProfiles = z.object({ profiles: z.array(trackerProfile) }).meta({ id: 'TrackerProfiles' });

/** A problem of a profile or of what it makes of a task. */
export const trackerIssue = z.object({ path: z.string(), message: z.string() }).meta({ id: 'TrackerIssue' });
export type TrackerIssue = z.infer<typeof trackerIssue>;

export const trackerValidation = z
  .object({ valid: z.literal(true), warnings: z.array(trackerIssue), introspectedAt: timestamp })
  .meta({ id: 'TrackerValidation' });

/** What would be created, in the terms of the tracker's schema. */
export const trackerPayload = z
  .object({
    workItemType: z.string(),
    projectPath: z.string(),
    areaPath: z.string().nullable(),
    iterationPath: z.string().nullable(),
    fields: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])),
  })
  .meta({ id: 'TrackerPayload' });
export type TrackerPayload = z.infer<typeof trackerPayload>;

export const trackerDryRun = z.strictObject({ taskId }).meta({ id: 'TrackerDryRun' });
export const trackerDryRunResult = z
  .object({
    externalWrite: z.literal(false),
    payload: trackerPayload,
    errors: z.array(trackerIssue),
    warnings: z.array(trackerIssue),
  })
  .meta({ id: 'TrackerDryRunResult' });

/** `approvedBy`: the person who approved that this is written to another system, as the caller states it. */
export const trackerCreate = z.strictObject({ taskId, approvedBy: text(200, 1) }).meta({ id: 'TrackerCreate' });
export const trackerCreated = z
  .object({ taskId, workItem: externalWorkItem, warnings: z.array(trackerIssue) })
  .meta({ id: 'TrackerCreated' });

/** A work item to bring in: as a new task, or to the task that is named. */
export const trackerImport = z.strictObject({ workItemId, taskId: taskId.optional() }).meta({ id: 'TrackerImport' });
export const trackerImported = z
  .object({ taskId, workItem: externalWorkItem, created: z.boolean() })
  .meta({ id: 'TrackerImported' });

export const trackerCommentSync = z.strictObject({ taskId, workItemId }).meta({ id: 'TrackerCommentSync' });
/** `imported`: comments that the task has got. `sent`: those that the work item has got. */
export const trackerCommentReport = z
  .object({ taskId, workItemId, imported: z.number().int().min(0), sent: z.number().int().min(0) })
  .meta({ id: 'TrackerCommentReport' });

/** What was done with a tracker: who, what, and how it ended; nothing of what was sent. */
export const trackerAudit = z
  .object({
    sequence: z.number().int().min(1),
    timestamp,
    actor: z.string(),
    operation: z.string(),
    provider: z.string(),
    project: z.string(),
    outcome: z.string(),
    profileId: z.string().nullable(),
    taskId: z.string().nullable(),
    workItemId: z.string().nullable(),
    approvedBy: z.string().nullable(),
  })
  .meta({ id: 'TrackerAudit' });
export type TrackerAudit = z.infer<typeof trackerAudit>;
export const trackerAuditQuery = z.strictObject(listPage(50, 200)).meta({ id: 'TrackerAuditQuery' });
export const trackerAuditPage = z
  .object({ audits: z.array(trackerAudit), nextCursor })
  .meta({ id: 'TrackerAuditPage' });
