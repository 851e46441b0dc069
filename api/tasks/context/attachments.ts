import type { Attachment } from '../../../contracts/tasks/attachment';
import type { TaskContext } from '../../../contracts/tasks/context';
import type { Task } from '../../../contracts/tasks/task';
import type { AttachmentStore } from '../../../stores/tasks/attachment-store';

/** Of the text of each document; all of it is at `/attachments/<id>/text`. */
const textLength = 20_000;

/** The attachments of a task for an agent or a person who begins it: the beginnings of documents, the URLs of images. */
export async function attachmentContext(
  { id: taskId, attachments = [] }: Task,
  store: Pick<AttachmentStore, 'text'>,
): Promise<TaskContext['attachments']> {
  const documents = await Promise.all(
    attachments.filter(({ hasText }) => hasText).map((document) => documentOf(document, store)),
  );
  return {
    count: attachments.length,
    documents,
    images: attachments
      .filter(({ mimeType }) => mimeType.startsWith('image/'))
      .map(({ id }) => `/api/tasks/${taskId}/attachments/${id}/download`),
  };
}

async function documentOf({ id, originalName }: Attachment, store: Pick<AttachmentStore, 'text'>) {
  const text = await store.text(id);
  return { filename: originalName, ...(text !== undefined && { text: text.slice(0, textLength) }) };
}
