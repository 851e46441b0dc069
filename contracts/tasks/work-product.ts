import { z } from 'zod';
import { attemptId, clearable, digest, revision, taskId, text, timestamp } from '../common';
import { listPage } from '../query';

/** Content is counted in UTF-16 units. */
export const workProductLimits = { ofTask: 200, versions: 100, content: 300_000 } as const;

export const workProductId = z
  .string()
  .regex(/^product_[0-9a-f]{12}$/, 'must look like product_0123456789ab')
  .meta({ id: 'WorkProductId' });

export const workProductKind = z.enum(['document', 'report', 'plan', 'review', 'code', 'data', 'other']);

/** What the content is, from which the type and the extension of the exported file follow. */
export const workProductFormat = z.enum(['markdown', 'text', 'json', 'csv', 'html', 'yaml', 'patch']);
export type WorkProductFormat = z.infer<typeof workProductFormat>;

const version = z.number().int().min(1).max(workProductLimits.versions);

const fields = {
  title: text(200, 1),
  kind: workProductKind,
  summary: text(2_000, 1),
  format: workProductFormat,
  content: text(workProductLimits.content, 1).refine((content) => !/[\ud800-\udfff]/u.test(content), {
    message: 'must not contain halves of characters',
  }),
  changelog: text(500, 1),
};

/** One state of the content, which never changes. */
export const workProductVersion = z
  .object({
    version,
    format: workProductFormat,
    /** Of the content in UTF-8, in bytes. */
    size: z.number().int().min(1),
    sha256: digest,
    changelog: fields.changelog.optional(),
    /** The version whose content this one has again. */
    restoredFrom: version.optional(),
    createdAt: timestamp,
    createdBy: z.string(),
  })
  .meta({ id: 'WorkProductVersion' });
export type WorkProductVersion = z.infer<typeof workProductVersion>;

export const workProductVersionContent = workProductVersion
  .extend({ content: z.string() })
  .meta({ id: 'WorkProductVersionContent' });

/** A stored result of a task; `format`, `size` and `sha256` are those of its newest version. */
export const workProduct = z
  .object({
    id: workProductId,
    taskId,
    /** The attempt that it came of. */
    attemptId: attemptId.optional(),
    title: z.string(),
    kind: workProductKind,
    summary: z.string().optional(),
    version,
    format: workProductFormat,
    size: z.number().int().min(1),
    sha256: digest,
    revision,
    createdAt: timestamp,
    createdBy: z.string(),
    updatedAt: timestamp,
    updatedBy: z.string(),
  })
  .meta({ id: 'WorkProduct' });
export type WorkProduct = z.infer<typeof workProduct>;

export const workProductContent = workProduct
  .extend({
    /** Of the newest version; renderers must not trust it. */
    content: z.string(),
  })
  .meta({ id: 'WorkProductContent' });
export type WorkProductContent = z.infer<typeof workProductContent>;

export const taskWorkProductCreate = z
  .strictObject({
    title: fields.title,
    kind: workProductKind.default('document'),
    summary: fields.summary.optional(),
    format: workProductFormat.default('markdown'),
    content: fields.content,
    changelog: fields.changelog.optional(),
    attemptId: attemptId.optional(),
  })
  .meta({ id: 'TaskWorkProductCreate' });
export type TaskWorkProductCreate = z.infer<typeof taskWorkProductCreate>;

export const workProductCreate = taskWorkProductCreate.extend({ taskId }).meta({ id: 'WorkProductCreate' });

/** Another `content` or `format` is a new version, which `changelog` describes. */
export const workProductPatch = z
  .strictObject({
    title: fields.title.optional(),
    kind: workProductKind.optional(),
    summary: clearable(fields.summary),
    format: workProductFormat.optional(),
    content: fields.content.optional(),
    changelog: fields.changelog.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'WorkProductPatch' });
export type WorkProductPatch = z.infer<typeof workProductPatch>;

export const workProductRestore = z
  .strictObject({ version, changelog: fields.changelog.optional(), expectedRevision: revision.optional() })
  .meta({ id: 'WorkProductRestore' });

const filters = { kind: workProductKind.optional(), attemptId: attemptId.optional(), ...listPage(20, 100) };

export const taskWorkProductQuery = z.strictObject(filters).meta({ id: 'TaskWorkProductQuery' });

export const workProductQuery = z
  .strictObject({ taskId: taskId.optional(), ...filters })
  .meta({ id: 'WorkProductQuery' });
export type WorkProductQuery = z.infer<typeof workProductQuery>;

const versionNumber = z.coerce.number().int().min(1).max(workProductLimits.versions);

export const workProductParams = z.strictObject({ id: workProductId });
export const workProductVersionParams = z.strictObject({ id: workProductId, version: versionNumber });
export const workProductVersionsQuery = z.strictObject(listPage(20, 100));
export const workProductExportQuery = z.strictObject({ version: versionNumber.optional() });
