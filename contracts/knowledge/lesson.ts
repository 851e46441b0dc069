import { z } from 'zod';
import { taskId, text, timestamp } from '../common';
import { nextCursor, paging } from '../query';

/** What was learnt with one task (gaps 10.18). */
export const lesson = z
  .object({
    taskId,
    taskTitle: z.string(),
    project: z.string().optional(),
    sprint: z.string().optional(),
    /** Markdown. */
    lessonsLearned: z.string(),
    lessonTags: z.array(z.string()),
    /** For tasks that are done: when they were changed last. */
    completedAt: timestamp.optional(),
  })
  .meta({ id: 'Lesson' });
export type Lesson = z.infer<typeof lesson>;

const tag = text(100, 1);

/** `tag` may be repeated; all must match. `search` is looked for in title and text, whatever its case. */
export const lessonQuery = z
  .strictObject({
    project: z.string().max(200).optional(),
    sprint: z.string().max(200).optional(),
    tag: z
      .union([tag, z.array(tag).max(20)])
      .transform((tags) => [tags].flat())
      .optional(),
    search: z.string().max(200).optional(),
    ...paging(50, 100),
  })
  .meta({ id: 'LessonQuery' });
export type LessonQuery = z.output<typeof lessonQuery>;

const count = z.number().int();

export const lessonList = z
  .object({
    data: z.array(lesson),
    pagination: z.object({ total: count, limit: count, offset: count, hasMore: z.boolean() }),
    nextCursor,
  })
  .meta({ id: 'LessonList' });
export type LessonList = z.infer<typeof lessonList>;

export const lessonTags = z
  .object({ data: z.array(z.object({ tag: z.string(), count })), nextCursor })
  .meta({ id: 'LessonTags' });
