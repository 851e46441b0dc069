import type { RetentionKind, RetentionReport } from '../../contracts/system/retention';

/** How many ids a report names. */
const maxNamed = 20;

export interface PurgeInput {
  /** Counts what is due and removes nothing. */
  dryRun: boolean;
}

/** Counts what a purge comes across. */
export function tally(kind: RetentionKind, { dryRun }: PurgeInput) {
  const report: RetentionReport = { kind, dryRun, due: 0, removed: 0, examples: [] };
  return {
    report,
    /** Notes what is due and, unless it is a dry run, removes it. @param remove whether it is gone */
    async take(id: string, remove: () => Promise<boolean>): Promise<void> {
      report.due += 1;
      if (report.examples.length < maxNamed) {
        report.examples.push(id);
      }
      if (!dryRun && (await remove())) {
        report.removed += 1;
      }
    },
  };
}
