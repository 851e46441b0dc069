import type { BudgetScope } from '../../../contracts/settings/budget';
import {
  always,
  counted,
  type Counter,
  counterId,
  dayMs,
  isMonthly,
  nothing,
  type ScopeId,
  scopesOfSpender,
  type Spend,
  type SpendReport,
  spentWithin,
  utcDate,
} from '../../../domain/budgets/spend';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database, Stored } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';

type CounterRecord = Stored & Counter;

/** How long counters of days are retained, in days: two years. */
export const countersRetainedDays = 731;

/** A report with its number in the journal. */
export interface NumberedReport extends SpendReport {
  sequence: number;
}

/** The most days that a period is added up of. */
const mostDays = countersRetainedDays + 2;

/**
 * What each scope has used: one small document for each day, and one for all time. A counter knows up to which report of the
 * journal it counts, and is changed by compare-and-set on that: a report that is applied again, by whichever process, changes nothing.
 */
export async function createSpendCounters(db: Database) {
  const counters = await db.collection<CounterRecord>({
    name: 'spend-counters',
    indexes: [{ keys: { scope: 1, day: 1, scopeId: 1 } }, { keys: { scope: 1, scopeId: 1, day: 1 } }],
    expire: { field: 'expiresAt', afterSeconds: 0 },
  });

  /** Counts those of the reports that the counter does not count yet; they are all of this counter, in order. */
  async function applyTo(empty: CounterRecord, reports: readonly NumberedReport[]): Promise<void> {
    for (;;) {
      const stored = await counters.get(empty._id);
      const before = stored ?? empty;
      const fresh = reports.filter(({ sequence }) => sequence > before.through);
      if (fresh.length === 0) {
        return;
      }
      const { _id, ...after } = fresh.reduce((sum, report) => counted(sum, report, report.sequence), before);
      const isWritten = stored
        ? await counters.findOneAndUpdate({ _id, through: before.through }, { $set: after })
        : await insertOnce(counters, { _id, ...after });
      if (isWritten) {
        return;
      }
    }
  }

  return {
    /** Counts reports of the journal in all their scopes. Those before them have been applied. */
    async apply(reports: readonly NumberedReport[]): Promise<void> {
      const parts = new Map<string, { empty: CounterRecord; reports: NumberedReport[] }>();
      for (const report of reports) {
        for (const empty of countersOf(report)) {
          const part = parts.get(empty._id) ?? { empty, reports: [] };
          part.reports.push(report);
          parts.set(empty._id, part);
        }
      }
      await Promise.all([...parts.values()].map((part) => applyTo(part.empty, part.reports)));
    },

    /** What a scope has used in a period, or in all of its time. */
    async spent({ scope, scopeId }: ScopeId, period: { from: number; to: number } | undefined): Promise<Spend> {
      if (!period) {
        return spendOf(await counters.get(counterId({ scope, scopeId }, always)));
      }
      const days = { $gte: utcDate(period.from), $lte: utcDate(period.to) };
      const found = await counters.find({ scope, scopeId, day: days }, { sort: { day: 1 }, limit: mostDays });
      return spentWithin(found, period);
    },

    /** The scopes of a kind that have ever used something, by their ids. */
    async scopes(scope: BudgetScope, part: PageRequest): Promise<Page<ScopeId>> {
      const order = { key: 'scopeId', direction: 1, unique: true } as const;
      return (await findPage(counters, { filter: { scope, day: always }, order }, part)).map(({ scopeId }) => ({
        scope,
        scopeId,
      }));
    },
  };
}

const spendOf = (spend: Spend | undefined): Spend => {
  const { tokens, costUsd } = spend ?? nothing;
  return { tokens, costUsd };
};

/** The counters of a report, as they are before the first. */
function countersOf(report: SpendReport): CounterRecord[] {
  const date = report.at.slice(0, 10);
  const expiresAt = new Date(Date.parse(date) + countersRetainedDays * dayMs).toISOString();
  return scopesOfSpender(report).flatMap((of) => [
    { _id: counterId(of, always), ...of, day: always, through: 0, ...nothing },
    ...(isMonthly(of.scope)
      ? [{ _id: counterId(of, date), ...of, day: date, through: 0, ...nothing, quarters: {}, expiresAt }]
      : []),
  ]);
}
