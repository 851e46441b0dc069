import { z } from 'zod';
import { revision, revisionInFile, slug, text, timestamp } from '../common';

/** The most comments that a task may have. */
export const maxComments = 1_000;

/** A comment on a task. Loose: what a person added by hand is preserved. */
export const comment = z
  .looseObject({
    id: z.string().max(64),
    /** A comment that was written by hand may be without it. */
    author: text(100, 1).default('unknown'),
    text: text(2000, 1),
    timestamp,
    revision: revisionInFile.default(1),
    createdBy: z.string().optional(),
    updatedBy: z.string().optional(),
    updated: timestamp.optional(),
    /** Where a comment is from that was imported: the system, and its id there. A person may have written another source by hand. */
    source: z.union([z.object({ name: slug, id: z.string().max(200) }), z.unknown()]).optional(),
  })
  .meta({ id: 'Comment' });
export type Comment = z.infer<typeof comment>;

/** `author` defaults to the caller; `expectedRevision` is the revision of the task. */
export const commentCreate = z
  .strictObject({ author: text(100, 1).optional(), text: text(2000, 1), expectedRevision: revision.optional() })
  .meta({ id: 'CommentCreate' });

export const commentPatch = commentCreate.pick({ text: true, expectedRevision: true }).meta({ id: 'CommentPatch' });
