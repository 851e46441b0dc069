import type { Filter } from 'mongodb';
import type { AuditEntry, AuditQuery, AuditVerification } from '../../contracts/system/audit';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import type { Page } from '../../platform/lists/page';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';
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

const headId = 'audit';
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
  let turn: Promise<unknown> = Promise.resolve();

  const newestEntry = async (): Promise<AuditRecord | undefined> =>
    (await entries.find({ sequence: { $gte: 1 } }, { sort: newest, limit: 1 }))[0];

  async function append(input: AuditInput): Promise<AuditEntry> {
    const { action, actor, resource, details, once } = input;
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      // Another process may have extended the chain; then the sequence is taken, and the end is read again.
      if (attempt > 0 || !last) {
        last = await newestEntry();
      }
      // After the end was read: a concurrent writer of the same takes the sequence, and its entry is read then.
      const written = once === undefined ? [] : await entries.find({ once }, { limit: 1 });
      if (written[0]) {
        return entryOf(written[0]);
      }
      const sequence = (last?.sequence ?? 0) + 1;
      const timestamp = now().toISOString();
      const body = {
        sequence,
        timestamp,
        action,
        actor,
        ...compact({ resource }),
        ...(details === undefined ? {} : { details: redactJson(details, redact, bounds).value }),
        ...(last && { previousHash: last.hash }),
      };
      const entry: AuditEntry = { ...body, hash: digestOf(body) };
      const stored = {
        _id: String(sequence),
        month: monthOf(timestamp),
        ...compact({ once }),
        ...entry,
      };
      if (!(await insertOnce(entries, stored))) {
        continue;
      }
      last = entry;
      await rememberEnd(entry);
      return entry;
    }
    throw new AppError('STORE_UNAVAILABLE', {
      status: 503,
      message: 'Too many concurrent writers of the audit log. Try again.',
    });
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
    /** Writes down what was done; durable when this resolves. One process writes one entry at a time. */
    record(input: AuditInput): Promise<AuditEntry> {
      const written = turn.then(() => append(input));
      turn = written.catch(() => undefined);
      return written;
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
      const head = await heads.get(headId);
      const end = await newestEntry();
      return { month, ...(await verifyChain({ page, before, head, end })) };
    },
  };
}

export type AuditStore = Awaited<ReturnType<typeof createAuditStore>>;
