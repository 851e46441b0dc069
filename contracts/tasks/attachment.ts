import { z } from 'zod';
import { digest, timestamp } from '../common';
import { uploadedFile } from '../upload';

const mebibyte = 1_048_576;

/** Sizes are bytes. */
export const attachmentLimits = {
  files: 20,
  fileBytes: 10 * mebibyte,
  taskBytes: 50 * mebibyte,
  /** Of the text that is stored of a file, in UTF-16 units. */
  textLength: 200_000,
} as const;

export const attachmentId = z
  .string()
  .regex(/^att_[A-Za-z0-9]{1,32}$/, 'must look like att_0123456789ab')
  .meta({ id: 'AttachmentId' });

/** A file that belongs to a task; its content is stored apart. Loose: what a person added by hand is preserved. */
export const attachment = z
  .looseObject({
    id: attachmentId,
    /** The id with an extension: safe in every file system. */
    filename: z.string().max(64),
    /** The caller's name for it, without what could mislead a file system or a reader. */
    originalName: z.string().max(255),
    /** The type of the content itself; never the one the caller stated. */
    mimeType: z.string().max(200),
    size: z.number().int().min(0),
    hasText: z.boolean().default(false),
    /** Why its text could not be extracted: it takes more than is allowed, or cannot be read. */
    textProblem: z.enum(['limit', 'unreadable']).optional(),
    sha256: digest.optional(),
    uploaded: timestamp.optional(),
    uploadedBy: z.string().optional(),
    validationStatus: z.enum(['valid', 'invalid', 'skipped', 'unknown']).optional(),
    retentionStatus: z.enum(['active', 'archived', 'deleted', 'expired']).optional(),
  })
  .meta({ id: 'Attachment' });
export type Attachment = z.infer<typeof attachment>;

/** The body of an upload: `multipart/form-data`. */
export const attachmentUpload = z
  .strictObject({ files: z.array(uploadedFile).min(1).max(attachmentLimits.files) })
  .meta({ id: 'AttachmentUpload' });

export const rejectedFile = z.object({ filename: z.string(), error: z.string() }).meta({ id: 'RejectedFile' });
export type RejectedFile = z.infer<typeof rejectedFile>;

/** The text of an attachment, cut at 200,000 characters; `null` when none could be read from it. */
export const attachmentText = z
  .object({ attachmentId, text: z.string().nullable(), hasText: z.boolean(), problem: z.string().optional() })
  .meta({ id: 'AttachmentText' });
