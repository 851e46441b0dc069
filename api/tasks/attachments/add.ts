import { readFile } from 'node:fs/promises';
import type { Attachment, RejectedFile } from '../../../contracts/tasks/attachment';
import { attachmentLimits } from '../../../contracts/tasks/attachment';
import type { Task } from '../../../contracts/tasks/task';
import type { UploadedFile } from '../../../contracts/upload';
import { AppError } from '../../../platform/errors/app-error';
import { operationTime } from '../../../platform/operations/operation';
import type { AttachmentStore } from '../../../stores/tasks/attachment-store';
import { newItemId } from '../tasks/items';
import type { Examine } from './content/examine';
import { fileTypeOf } from './content/file-types';
import { FileRefused } from './content/refused';
import { cleanFileName, extensionOf } from './file-name';
import { checkQuota } from './quota';

export interface AddDependencies {
  attachments: AttachmentStore;
  examine: Examine;
}

export interface Sender {
  taskId: string;
  actor: string;
  files: readonly UploadedFile[];
}

export interface Added {
  attachments: Attachment[];
  task: Task;
  rejected: RejectedFile[];
}

/** Changes the task as one step under its lock; `change` may run twice. */
type ChangeTask = (change: (current: Task) => Partial<Task>) => Promise<Task>;

/**
 * Stores the acceptable ones of some files and records them on the task, within its quota.
 *
 * @throws AppError 400 with `details.rejected` when no file is accepted, and errors of `changeTask`; then nothing is stored
 */
export async function addAttachments(deps: AddDependencies, sender: Sender, changeTask: ChangeTask): Promise<Added> {
  const rejected: RejectedFile[] = [];
  const stored: Attachment[] = [];
  try {
    for (const file of sender.files) {
      const outcome = await storeFile(deps, sender, file);
      if (outcome.rejected) {
        rejected.push(outcome.rejected);
      } else {
        stored.push(outcome.kept);
      }
    }
    const task = await changeTask(({ attachments = [] }) => {
      const { fitting, excess } = checkQuota(attachments, stored);
      if (fitting.length === 0) {
        throw allRejected([...rejected, ...excess.map(asRejected)]);
      }
      return { attachments: [...attachments, ...fitting] };
    });
    return await settle(deps.attachments, task, { stored, rejected });
  } catch (error) {
    // A refusal comes before anything is written. After another failure the outcome is open: the cleanup reads the task.
    if (error instanceof AppError) {
      await deleteAttachments(deps.attachments, stored);
    }
    throw error;
  }
}

const asRejected = ({ attachment, error }: { attachment: Attachment; error: string }): RejectedFile => ({
  filename: attachment.originalName,
  error,
});

function allRejected(rejected: RejectedFile[]): AppError {
  return new AppError('VALIDATION_ERROR', {
    status: 400,
    message: 'None of the files could be attached.',
    details: {
      issues: [{ path: 'files', message: 'none of them can be attached' }],
      rejected,
    },
  });
}

type Outcome = { kept: Attachment; rejected?: undefined } | { rejected: RejectedFile };

/** Stores the content of one file, or returns why not. */
async function storeFile(
  { attachments, examine }: AddDependencies,
  { taskId, actor }: Sender,
  file: UploadedFile,
): Promise<Outcome> {
  const originalName = cleanFileName(file.name);
  const extension = extensionOf(originalName);
  const refuse = (error: string): Outcome => ({ rejected: { filename: originalName, error } });
  const problem = sizeProblem(file, extension);
  if (problem !== undefined) {
    return refuse(problem);
  }
  try {
    const look = { path: file.path, extension, maxTextLength: attachmentLimits.textLength };
    const { mimeType, text, problem } = await examine(look, actor);
    const id = newItemId('att');
    const sha256 = await attachments.add({ id, taskId, content: await readFile(file.path), text });
    const stored: Attachment = {
      id,
      filename: `${id}.${extension}`,
      originalName,
      mimeType,
      size: file.bytes,
      hasText: text !== undefined,
      ...(problem === undefined ? {} : { textProblem: problem }),
      sha256,
      uploaded: operationTime().toISOString(),
      uploadedBy: actor,
      validationStatus: 'valid',
      retentionStatus: 'active',
    };
    return { kept: stored };
  } catch (error) {
    if (!(error instanceof FileRefused)) {
      throw error;
    }
    return refuse(error.message);
  }
}

function sizeProblem({ bytes, truncated }: UploadedFile, extension: string): string | undefined {
  if (bytes === 0) {
    return 'The file is empty.';
  }
  const type = fileTypeOf(extension);
  if (!type) {
    return 'Files of this type may not be attached.';
  }
  const { maxBytes } = type;
  return truncated || bytes > maxBytes ? `Files of this type may have at most ${maxBytes} bytes.` : undefined;
}

/** Separates those on the task from those beyond its quota, and deletes the latter. */
async function settle(
  store: AttachmentStore,
  task: Task,
  { stored, rejected }: { stored: readonly Attachment[]; rejected: readonly RejectedFile[] },
): Promise<Added> {
  const ours = new Set(stored.map(({ id }) => id));
  const others = (task.attachments ?? []).filter(({ id }) => !ours.has(id));
  const { fitting, excess } = checkQuota(others, stored);
  await store.confirm(fitting.map(({ id }) => id));
  await deleteAttachments(
    store,
    excess.map(({ attachment }) => attachment),
  );
  return { attachments: fitting, task, rejected: [...rejected, ...excess.map(asRejected)] };
}

/** Deletes attachments that are on no task. What cannot be removed yet is left for the cleanup. */
export async function deleteAttachments(
  store: AttachmentStore,
  gone: readonly Pick<Attachment, 'id'>[],
): Promise<void> {
  const ids = gone.map(({ id }) => id);
  await store.release(ids);
  for (const id of ids) {
    await store.remove(id);
  }
}
