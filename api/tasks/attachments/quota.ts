import { type Attachment, attachmentLimits } from '../../../contracts/tasks/attachment';

export interface QuotaCheck {
  fitting: Attachment[];
  /** With what each is too many, or too large, for. */
  excess: { attachment: Attachment; error: string }[];
}

/** Which of some new attachments fit into the quota of a task, in their order. */
export function checkQuota(present: readonly Attachment[], added: readonly Attachment[]): QuotaCheck {
  const result: QuotaCheck = { fitting: [], excess: [] };
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
  if (count > files) {
    return `A task can have at most ${files} attachments; delete some first.`;
  }
  return bytes > taskBytes
    ? `The attachments of a task can have at most ${taskBytes} bytes in total; delete some first.`
    : undefined;
}
