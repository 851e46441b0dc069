import type { AuditBreak, AuditEntry } from '../../contracts/system/audit';
import { digestOf } from '../../platform/json/digest';

/** The part of a chain of audit entries that is verified. */
export interface ChainView {
  /** Up to `limit` entries of the month with a higher sequence, in order. */
  page: (after: number, limit: number) => Promise<AuditEntry[]>;
  /** The newest entry below a sequence, of whatever month. */
  before: (sequence: number) => Promise<AuditEntry | undefined>;
  /** The recorded end of the chain. */
  head: { sequence: number; hash: string } | undefined;
  /** Where it ends now, whatever the month. */
  end: AuditEntry | undefined;
}

const pageSize = 500;
const maxBreaks = 100;

function hashOf({ hash: _hash, ...body }: AuditEntry): string {
  return digestOf(body);
}

/** What is wrong between an entry and the stored one before it. */
function breaksAt(entry: AuditEntry, previous: AuditEntry | undefined): AuditBreak[] {
  const { sequence } = entry;
  const breaks: AuditBreak[] = [];
  const missing = sequence - (previous?.sequence ?? 0) - 1;
  if (missing > 0) {
    breaks.push({
      sequence: sequence - missing,
      reason: 'missing',
      message: `${missing} entries are missing before this one.`,
    });
  } else if (entry.previousHash !== previous?.hash) {
    breaks.push({ sequence, reason: 'not-chained', message: 'It does not follow the entry before it.' });
  }
  if (hashOf(entry) !== entry.hash) {
    breaks.push({ sequence, reason: 'changed', message: 'Its content was changed: the hash differs.' });
  }
  return breaks;
}

/**
 * Follows a chain of audit entries through one month. Its first entry is compared with the one before it, so that months cannot
 * be exchanged, and the end of the chain with its recorded end.
 */
export async function verifyChain({ page, before, head, end }: ChainView): Promise<{
  valid: boolean;
  entries: number;
  firstBroken?: number;
  broken: AuditBreak[];
}> {
  const broken: AuditBreak[] = [];
  const note = (breaks: AuditBreak[]): void => void broken.push(...breaks.slice(0, maxBreaks - broken.length));
  let count = 0;
  let previous: AuditEntry | undefined;
  for (let after = 0; ; after = previous?.sequence ?? after) {
    const entries = await page(after, pageSize);
    const [first] = entries;
    if (first && count === 0) {
      previous = await before(first.sequence);
    }
    for (const entry of entries) {
      note(breaksAt(entry, previous));
      previous = entry;
    }
    count += entries.length;
    if (entries.length < pageSize) {
      break;
    }
  }
  if (head && head.sequence > (end?.sequence ?? 0)) {
    const message = `The last entry of the log, ${head.sequence}, is missing.`;
    note([{ sequence: (end?.sequence ?? 0) + 1, reason: 'cut-off', message }]);
  } else if (head && head.sequence === end?.sequence && head.hash !== end.hash) {
    note([{ sequence: head.sequence, reason: 'changed', message: 'It is not the entry the log ended with.' }]);
  }
  const [firstBreak] = broken;
  return {
    valid: broken.length === 0,
    entries: count,
    ...(firstBreak && { firstBroken: firstBreak.sequence }),
    broken,
  };
}
