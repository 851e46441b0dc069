import fc from 'fast-check';
import { freshnessAlertId } from '../../../contracts/knowledge/document';
import { alertIdOf, alertOf, documentOfAlert, type DocumentRecord, present } from './freshness';

const day = 86_400_000;
const reviewed = Date.parse('2026-11-01T00:00:00.000Z');
const record: DocumentRecord = {
  id: 'document_0123456789ab',
  path: 'docs/run.md',
  type: 'runbook',
  maxAgeDays: 10,
  reviewedAt: new Date(reviewed).toISOString(),
  revision: 1,
  createdAt: new Date(reviewed).toISOString(),
  updatedAt: new Date(reviewed).toISOString(),
};
const after = (days: number) => new Date(reviewed + days * day);

describe('document freshness', () => {
  it.each([
    [0, 0, undefined],
    [9.9, 9, undefined],
    [10, 10, undefined],
    [10.1, 10, 'medium'],
    [15, 15, 'high'],
    [20, 20, 'critical'],
  ])('after %f days of ten', (days, ageDays, severity) => {
    expect(present(record, after(days))).toMatchObject({ ageDays, stale: severity !== undefined });
    expect(alertOf(record, after(days))?.severity).toBe(severity);
  });

  it('is no older than nothing when the clock goes back', () => {
    expect(present(record, after(-3))).toMatchObject({ ageDays: 0, stale: false });
  });

  it('is acknowledged until the next review', () => {
    const acknowledged = { reviewedAt: record.reviewedAt, by: 'user:ada', at: after(11).toISOString() };
    expect(alertOf({ ...record, acknowledged }, after(12))).toMatchObject({
      acknowledged: true,
      acknowledgedBy: 'user:ada',
      staleSince: after(10).toISOString(),
    });
    const again = { ...record, acknowledged, reviewedAt: after(12).toISOString() };
    expect(alertOf(again, after(30))).toMatchObject({ acknowledged: false });
  });

  it('has an alert of its own for every review', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        const id = alertIdOf({ id: record.id, reviewedAt: date.toISOString() });
        expect(freshnessAlertId.parse(id)).toBe(id);
        expect(documentOfAlert(id)).toBe(record.id);
      }),
    );
  });
});
