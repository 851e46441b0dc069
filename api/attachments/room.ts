import { attachmentLimits, type Attachment } from '../../contracts/attachment';

export interface Fitting {
  fitting: Attachment[];
  /** With what each is too many, or too large, for. */
  excess: { attachment: Attachment; error: string }[];
}

/** Which of some new attachments a task has room for, in their order. */
export function fitInto(present: readonly Attachment[], added: readonly Attachment[]): Fitting {
  const result: Fitting = { fitting: [], excess: [] };
  let count = present.length;
  let bytes = present.reduce((sum, { size }) => sum + size, 0);
  for (const attachment of added) {
    const error = refusal(count + 1, bytes + attachment.size);
    if (error !== undefined) {
      result.excess.push({ attachment, error });
      continue;
    }
    result.fitting.push(attachment);
    count += 1;
    bytes += attachment.size;
  }
  return result;
}

function refusal(count: number, bytes: number): string | undefined {
  const { files, taskBytes } = attachmentLimits;
  if (count > files) return `A task may have at most ${files} attachments.`;
  return bytes > taskBytes ? `The attachments of a task may have at most ${taskBytes} bytes together.` : undefined;
}
