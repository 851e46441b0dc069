import { z } from 'zod';
import type { Task } from '../../contracts/task';
import type { TaskContext } from '../../contracts/task-context';

/** What is looked at of an attachment; anything else in the list is none. */
const attachment = z.object({
  id: z.string(),
  filename: z.string(),
  originalName: z.string().optional(),
  mimeType: z.string().optional(),
  hasText: z.boolean().optional(),
});
type Attachment = z.infer<typeof attachment>;

function attachmentsOf(task: Task): Attachment[] {
  const list: unknown = task.attachments;
  return (Array.isArray(list) ? list : []).flatMap((item) => attachment.safeParse(item).data ?? []);
}

/** A document of the task; its extracted text belongs here once attachments are kept. */
const documentOf = ({ originalName, filename }: Attachment) => ({ filename: originalName ?? filename });

/** The attachments of a task for somebody who begins to work on it. */
export function attachmentContext(task: Task): TaskContext['attachments'] {
  const all = attachmentsOf(task);
  return {
    count: all.length,
    documents: all.filter(({ hasText }) => hasText === true).map(documentOf),
    images: all
      .filter(({ mimeType }) => mimeType?.startsWith('image/'))
      .map(({ id }) => `/api/tasks/${task.id}/attachments/${encodeURIComponent(id)}/download`),
  };
}
