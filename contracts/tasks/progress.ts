import { z } from 'zod';
import { text } from '../common';

/** The most characters the progress of one task may have. */
export const progressLimit = 200_000;

/** What has been done on a task so far, as markdown; empty when nothing was written. */
export const taskProgress = z.object({ content: z.string() }).meta({ id: 'TaskProgress' });

export const taskProgressWrite = z.strictObject({ content: text(progressLimit) }).meta({ id: 'TaskProgressWrite' });

/** `section` is the text of a heading: one line. */
export const taskProgressAppend = z
  .strictObject({
    section: text(200, 1)
      .regex(/^[^\r\n]*$/, 'must be one line')
      .regex(/\S/, 'must have text besides spaces'),
    content: text(progressLimit, 1).regex(/\S/, 'must have text besides spaces'),
  })
  .meta({ id: 'TaskProgressAppend' });

export const saved = z.object({ success: z.literal(true) }).meta({ id: 'Saved' });
