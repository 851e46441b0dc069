import type { FreshnessAlert, TrackedDocument, TrackedDocumentFields } from '../../../contracts/knowledge/document';
import type { Severity } from '../../../contracts/knowledge/error';
import { compact } from '../../../platform/json/compact';
import type { Recorded } from '../../../stores/port/configured-records';

const dayMs = 86_400_000;

export type DocumentRecord = TrackedDocumentFields & Recorded;

const staleFrom = ({ reviewedAt, maxAgeDays }: DocumentRecord): number => Date.parse(reviewedAt) + maxAgeDays * dayMs;

const ageMs = ({ reviewedAt }: DocumentRecord, now: Date): number =>
  Math.max(0, now.getTime() - Date.parse(reviewedAt));

/** The document in a response, with its age and whether that is too much. */
export function present(record: DocumentRecord, now: Date): TrackedDocument {
  const { acknowledged: _acknowledged, ...document } = record;
  return {
    ...document,
    ageDays: Math.floor(ageMs(record, now) / dayMs),
    stale: now.getTime() > staleFrom(record),
  };
}

/** `medium` from its time on, `high` from one and a half times that age on, `critical` from twice. */
function severityOf(record: DocumentRecord, now: Date): Severity {
  const times = ageMs(record, now) / (record.maxAgeDays * dayMs);
  return times >= 2 ? 'critical' : times >= 1.5 ? 'high' : 'medium';
}

/** The same from one review to the next. */
export const alertIdOf = ({ id, reviewedAt }: Pick<DocumentRecord, 'id' | 'reviewedAt'>): string =>
  `${id}_${Date.parse(reviewedAt).toString(36)}`;

/** What the alert is about. */
export const documentOfAlert = (alertId: string): string => alertId.slice(0, alertId.lastIndexOf('_'));

/** The alert that a document is stale; `undefined` for one that is fresh. */
export function alertOf(record: DocumentRecord, now: Date): FreshnessAlert | undefined {
  const { ageDays, stale } = present(record, now);
  if (!stale) {
    return undefined;
  }
  const { id, path, title, type, project, maxAgeDays, reviewedAt, acknowledged } = record;
  const current = acknowledged?.reviewedAt === reviewedAt ? acknowledged : undefined;
  return compact({
    id: alertIdOf(record),
    documentId: id,
    path,
    title,
    type,
    project,
    severity: severityOf(record, now),
    ageDays,
    maxAgeDays,
    staleSince: new Date(staleFrom(record)).toISOString(),
    acknowledged: current !== undefined,
    acknowledgedBy: current?.by,
    acknowledgedAt: current?.at,
  });
}
