import type { Filter } from 'mongodb';
import type { AuditEntry, AuditQuery, AuditVerification } from '../../contracts/system/audit';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import type { Page } from '../../platform/lists/page';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import { currentOperation } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';
import { noted } from '../port/wrappers/repeatable';
import { verifyChain } from './audit-chain';

/** An actor's action. Details may come from a caller: what looks like a secret is redacted. */
export interface AuditInput {
  action: string;
  actor: string;
  resource?: string | undefined;
  details?: Record<string, unknown> | undefined;
  /** Names what was done: recorded again under the same name, it is the existing entry. */
  once?: string | undefined;
}

type AuditRecord = Stored & AuditEntry & { month: string; once?: string };

interface Head extends Stored {
  sequence: number;
  hash: string;
}

/** An entry that is to be written, and its caller. */
interface Waiting {
  input: AuditInput;
  resolve: (entry: AuditEntry) => void;
  reject: (error: unknown) => void;
}

const headId = 'audit';
/** Entries that are written at once. */
const maxInBatch = 100;
const bounds = { bytes: 16_384, depth: 8, items: 128 };

/** Writers in several processes contend for the end of the chain; after this many tries one is refused. */
const maxTries = 200;

const monthOf = (timestamp: string): string => timestamp.slice(0, 7);
const entryOf = ({ _id, month: _month, once: _once, ...entry }: AuditRecord): AuditEntry => entry;

/**
 * Who did what, in one chain of hashes over all processes (specification 1, Hooks, telemetry, audit). Entries are never changed
 * or removed. The end of the chain is recorded apart from it, so that entries removed from its end are detected too.
 */
export async function createAuditStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { sequence: -1 } as const;
  const entries = await db.collection<AuditRecord>({
    name: 'audit',
    indexes: [
      { keys: { sequence: 1 }, unique: true },
      { keys: { month: 1, sequence: 1 } },
      { keys: { action: 1, ...newest } },
      { keys: { actor: 1, ...newest } },
      { keys: { resource: 1, ...newest } },
      { keys: { once: 1 } },
    ],
  });
  const heads = await db.collection<Head>({ name: 'audit-heads' });
  const redact = createRedactor();
  let last: AuditEntry | undefined;
  const waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  const newestEntry = async (): Promise<AuditRecord | undefined> =>
    (await entries.find({ sequence: { $gte: 1 } }, { sort: newest, limit: 1 }))[0];

  /** Writes what is waiting, a batch at a time: one process never contends with itself for the end of the chain. */
  async function writeAll(): Promise<void> {
    for (let batch = waiting.splice(0, maxInBatch); batch.length > 0; batch = waiting.splice(0, maxInBatch)) {
      try {
        await append(batch);
      } catch (error) {
        batch.forEach(({ reject }) => reject(error));
      }
    }
    writing = undefined;
  }

  async function append(batch: readonly Waiting[]): Promise<void> {
    let remaining = [...batch];
    for (let attempt = 0; attempt < maxTries && remaining.length > 0; attempt += 1) {
      // Another process may have extended the chain; then the sequence is taken, and the end is read again.
      if (attempt > 0 || !last) {
        last = await newestEntry();
      }
      // After the end was read: a concurrent writer of the same takes the sequence, and its entry is read then.
      remaining = await withoutWritten(remaining);
      const records = chained(remaining);
      const count = records.length === 0 ? 0 : await entries.insertAll(records);
      const end = records[count - 1];
      if (end) {
        last = entryOf(end);
        remaining.splice(0, count).forEach(({ resolve }, at) => resolve(entryOf(records[at] ?? end)));
        noteEnd(last);
      }
    }
    if (remaining.length > 0) {
      throw new AppError('STORE_UNAVAILABLE', {
        status: 503,
        message: 'Too many concurrent writers of the audit log. Try again.',
      });
    }
  }

  /** Acknowledges those of a batch that are written already, under the name of what was done; each name is once in the rest. */
  async function withoutWritten(batch: readonly Waiting[]): Promise<Waiting[]> {
    const names = batch.flatMap(({ input: { once } }) => once ?? []);
    const found = names.length === 0 ? [] : await entries.find({ once: { $in: names } });
    const written = new Map(found.map((record) => [record.once, entryOf(record)]));
    const seen = new Set<string>();
    return batch.filter((one) => {
      const { once } = one.input;
      const existing = once === undefined ? undefined : written.get(once);
      if (existing) {
        one.resolve(existing);
        return false;
      }
      if (once !== undefined && seen.has(once)) {
        // The next batch finds the entry that this one writes.
        waiting.push(one);
        return false;
      }
      if (once !== undefined) {
        seen.add(once);
      }
      return true;
    });
  }

  /** The entries of a batch, as they follow the end of the chain. */
  function chained(batch: readonly Waiting[]): AuditRecord[] {
    let previous = last;
    return batch.map(({ input: { action, actor, resource, details, once } }) => {
      const sequence = (previous?.sequence ?? 0) + 1;
      const timestamp = now().toISOString();
      const body = {
        sequence,
        timestamp,
        action,
        actor,
        ...compact({ resource }),
        ...(details === undefined ? {} : { details: redactJson(details, redact, bounds).value }),
        ...(previous && { previousHash: previous.hash }),
      };
      previous = { ...body, hash: digestOf(body) };
      return { _id: String(sequence), month: monthOf(timestamp), ...compact({ once }), ...previous };
    });
  }

  /** The end of the chain that is to be recorded, while an earlier one is. */
  let end: AuditEntry | undefined;
  let recordingEnd: Promise<void> | undefined;

  /** Records the end beside the next entries, in one transaction where the store can; of several ends the last. */
  function noteEnd(entry: AuditEntry): void {
    end = entry;
    // An end that cannot be recorded now is, once more, with the next entries.
    recordingEnd ??= recordEnds()
      .catch(() => undefined)
      .finally(() => (recordingEnd = undefined));
  }

  async function recordEnds(): Promise<void> {
    for (let next = end; next; next = end) {
      end = undefined;
      await rememberEnd(next);
    }
  }

  /** The end only moves forward; one that lags after a crash is corrected by the next entry. */
  async function rememberEnd({ sequence, hash }: AuditEntry): Promise<void> {
    const advance = () =>
      heads.findOneAndUpdate({ _id: headId, sequence: { $lt: sequence } }, { $set: { sequence, hash } });
    // Only the very first entry finds no end to move; another process may make one at that moment.
    if ((await advance()) || (await insertOnce(heads, { _id: headId, sequence, hash }))) {
      return;
    }
    await advance();
  }

  return {
    /** Writes down what was done; durable when this resolves. Entries that are recorded meanwhile are written together. */
    async record(input: AuditInput): Promise<AuditEntry> {
      const write = (): Promise<AuditEntry> =>
        new Promise((resolve, reject) => {
          waiting.push({ input, resolve, reject });
          writing ??= writeAll();
        });
      // The batch is written in the name of whichever operation came first: each notes its own write.
      return noted(currentOperation(), write, () => true);
    },

    /** The newest first. */
    async list({ action, actor, resource, since, until, before, ...part }: AuditQuery): Promise<Page<AuditEntry>> {
      const timestamp = { ...(since && { $gte: since }), ...(until && { $lte: until }) };
      const filter: Filter<AuditRecord> = {
        ...compact({ action, actor, resource }),
        sequence: before === undefined ? { $gte: 1 } : { $lt: before },
        ...(since === undefined && until === undefined ? {} : { timestamp }),
      };
      return (await findPage(entries, { filter, order: { key: 'sequence', direction: -1, unique: true } }, part)).map(
        entryOf,
      );
    },

    /** Recomputes the hashes of a month's entries, by default this month's. */
    async verify(month = monthOf(now().toISOString())): Promise<AuditVerification> {
      const page = async (after: number, limit: number): Promise<AuditEntry[]> =>
        (await entries.find({ month, sequence: { $gt: after } }, { sort: { sequence: 1 }, limit })).map(entryOf);
      const before = async (sequence: number): Promise<AuditEntry | undefined> =>
        (await entries.find({ sequence: { $lt: sequence } }, { sort: newest, limit: 1 })).map(entryOf)[0];
      await recordingEnd;
      const head = await heads.get(headId);
      return { month, ...(await verifyChain({ page, before, head, end: await newestEntry() })) };
    },
  };
}

export type AuditStore = Awaited<ReturnType<typeof createAuditStore>>;
