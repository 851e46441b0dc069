import { readFile } from 'node:fs/promises';
import type { Attachment, RejectedFile } from '../../contracts/attachment';
import { attachmentLimits } from '../../contracts/attachment';
import type { Task } from '../../contracts/task';
import type { UploadedFile } from '../../contracts/upload';
import { AppError } from '../../platform/errors/app-error';
import { operationTime } from '../../platform/operations/operation';
import type { AttachmentStore } from '../../stores/attachment-store';
import { newItemId } from '../tasks/items';
import type { Examine } from './content/examine';
import { fileTypeOf } from './content/file-types';
import { FileRefused } from './content/refused';
import { cleanFileName, extensionOf } from './file-name';
import { fitInto } from './room';

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
 * Keeps what may be kept of some files and records it on the task, as far as it has room for it.
 *
 * @throws AppError 400 with `details.rejected` when nothing is left, and whatever `changeTask` throws; then nothing is kept
 */
export async function addAttachments(deps: AddDependencies, sender: Sender, changeTask: ChangeTask): Promise<Added> {
  const rejected: RejectedFile[] = [];
  const kept: Attachment[] = [];
  try {
    for (const file of sender.files) {
      const outcome = await keepFile(deps, sender, file);
      if (outcome.rejected) rejected.push(outcome.rejected);
      else kept.push(outcome.kept);
    }
    const task = await changeTask(({ attachments = [] }) => {
      const { fitting, excess } = fitInto(attachments, kept);
      if (fitting.length === 0) throw allRejected([...rejected, ...excess.map(asRejected)]);
      return { attachments: [...attachments, ...fitting] };
    });
    return await settle(deps.attachments, task, kept, rejected);
  } catch (error) {
    // A refusal comes before anything is written. After another failure nobody knows: the cleanup looks at the task.
    if (error instanceof AppError) await letGo(deps.attachments, kept);
    throw error;
  }
}

const asRejected = ({ attachment, error }: { attachment: Attachment; error: string }): RejectedFile => ({
  filename: attachment.originalName,
  error,
});

function allRejected(rejected: RejectedFile[]): AppError {
  return new AppError('VALIDATION_ERROR', 400, 'None of the files can be attached.', {
    issues: [{ path: 'files', message: 'none of them can be attached' }],
    rejected,
  });
}

type Outcome = { kept: Attachment; rejected?: undefined } | { rejected: RejectedFile };

/** Keeps the content of one file, or says why not. */
async function keepFile(
  { attachments, examine }: AddDependencies,
  { taskId, actor }: Sender,
  file: UploadedFile,
): Promise<Outcome> {
  const originalName = cleanFileName(file.name);
  const extension = extensionOf(originalName);
  const refuse = (error: string): Outcome => ({ rejected: { filename: originalName, error } });
  const problem = sizeProblem(file, extension);
  if (problem !== undefined) return refuse(problem);
  try {
    const look = { path: file.path, extension, maxTextLength: attachmentLimits.textLength };
    const { mimeType, text, problem } = await examine(look, actor);
    const id = newItemId('att');
    const sha256 = await attachments.add({ id, taskId, content: await readFile(file.path), text });
    const kept: Attachment = {
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
    return { kept };
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    return refuse(error.message);
  }
}

function sizeProblem({ bytes, truncated }: UploadedFile, extension: string): string | undefined {
  if (bytes === 0) return 'The file is empty.';
  const type = fileTypeOf(extension);
  if (!type) return 'Files of this type may not be attached.';
  const { maxBytes } = type;
  return truncated || bytes > maxBytes ? `Files of this type may have at most ${maxBytes} bytes.` : undefined;
}

/** Tells those that are on the task from those it had no room for, and lets go of these. */
async function settle(
  store: AttachmentStore,
  task: Task,
  kept: readonly Attachment[],
  rejected: readonly RejectedFile[],
): Promise<Added> {
  const ours = new Set(kept.map(({ id }) => id));
  const others = (task.attachments ?? []).filter(({ id }) => !ours.has(id));
  const { fitting, excess } = fitInto(others, kept);
  await store.confirm(fitting.map(({ id }) => id));
  await letGo(
    store,
    excess.map(({ attachment }) => attachment),
  );
  return { attachments: fitting, task, rejected: [...rejected, ...excess.map(asRejected)] };
}

/** Gives up what is on no task. What cannot be removed yet is left for the cleanup. */
export async function letGo(store: AttachmentStore, gone: readonly Pick<Attachment, 'id'>[]): Promise<void> {
  const ids = gone.map(({ id }) => id);
  await store.release(ids);
  for (const id of ids) await store.remove(id);
}
