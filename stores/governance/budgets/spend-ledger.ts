import type { BudgetScope } from '../../../contracts/settings/budget';
import { type ScopeId, type Spend, type SpendReport, withoutNoise } from '../../../domain/budgets/spend';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database, LogEntry, Stored } from '../../port/collection';
import { insertOnce } from '../../port/insert';
import { createSpendCounters, type NumberedReport } from './spend-counters';

/** A report, and what makes it the same report when it is made again. */
export interface NewSpendReport extends SpendReport {
  key: string;
}

type JournalEntry = LogEntry & SpendReport;

/** Up to which report of the journal all counters count. */
interface Progress extends Stored {
  applied: number;
}

/** The one scope of the journal. */
const journal = 'board';

/** How many reports are counted in one step. */
const batch = 500;

/** Longer than any run reports again what it has reported. */
const retainedSeconds = 90 * 86_400;

/**
 * What runs have used. The journal is the truth: a report is appended to it once, under its key, and numbered without gaps. The
 * counters of scopes follow it in its order; whichever process reads them first counts what is not counted yet, so that a process that dies
 * between a report and its counting loses nothing and counts nothing twice.
 */
export async function createSpendLedger(db: Database) {
  const reports = await db.log<JournalEntry>({
    name: 'spend-reports',
    expire: { field: 'at', afterSeconds: retainedSeconds },
  });
  const progress = await db.collection<Progress>({ name: 'spend-progress' });
  const counters = await createSpendCounters(db);
  let counting: Promise<void> = Promise.resolve();

  async function countAll(): Promise<void> {
    for (;;) {
      const { applied = 0 } = (await progress.get(journal)) ?? {};
      const entries = await reports.read(journal, applied, batch);
      const last = entries.at(-1);
      if (!last) {
        return;
      }
      await counters.apply(entries satisfies NumberedReport[]);
      await advance(last.sequence);
    }
  }

  /** A process that was slower, or whose first record came second, leaves it behind: what is applied again changes nothing. */
  async function advance(applied: number): Promise<void> {
    const known = await progress.findOneAndUpdate({ _id: journal }, { $max: { applied } });
    if (!known) {
      await insertOnce(progress, { _id: journal, applied });
    }
  }

  /** Counts what was reported before this was called; one after the other in this process. */
  function caughtUp(): Promise<void> {
    const next = counting.then(countAll, countAll);
    counting = next.catch(() => undefined);
    return next;
  }

  return {
    /** Records reports, each once under its key however often it is made. */
    async record(made: readonly NewSpendReport[]): Promise<void> {
      await reports.append(
        journal,
        made.map(({ key: dedupeKey, costUsd, ...report }) => ({
          ...report,
          costUsd: withoutNoise(costUsd),
          dedupeKey,
        })),
      );
    },

    caughtUp,

    /** What a scope has used, every report included that was recorded before; in a period, or in all of its time. */
    async spent(of: ScopeId, period?: { from: number; to: number }): Promise<Spend> {
      await caughtUp();
      return counters.spent(of, period);
    },

    /** What several scopes have used. */
    async spentBy(scopes: readonly { of: ScopeId; period?: { from: number; to: number } | undefined }[]) {
      await caughtUp();
      return Promise.all(scopes.map(({ of, period }) => counters.spent(of, period)));
    },

    /** The scopes of a kind that have ever used something, by their ids. */
    async scopes(scope: BudgetScope, part: PageRequest): Promise<Page<ScopeId>> {
      await caughtUp();
      return counters.scopes(scope, part);
    },

    /** The reports themselves, in their order. */
    reports: (after: number, limit: number) => reports.read(journal, after, limit),
  };
}

export type SpendLedger = Awaited<ReturnType<typeof createSpendLedger>>;
