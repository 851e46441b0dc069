import { z } from 'zod';
import { retentionKind, retentionReport, type RetentionKind, type RetentionReport } from '../../contracts/retention';
import type { Routes } from '../../platform/http/routes';

export interface RetentionContext {
  /** Looks at what is due, and leaves it there. @throws AppError 503 when no worker answers in time */
  dryRun: (kind: RetentionKind) => Promise<RetentionReport>;
}

/** What is purged, and when, is in the feature settings and Temporal's schedules; this shows what would be. */
export function retentionRoutes(routes: Routes, { dryRun }: RetentionContext): void {
  routes.add(
    {
      method: 'post',
      path: '/retention/:kind/dry-run',
      operationId: 'dryRunRetention',
      summary: 'Count what the next purge of this kind would remove, and remove nothing',
      tag: 'settings',
      permission: 'admin:manage',
      params: z.strictObject({ kind: retentionKind }),
      response: retentionReport,
      errors: [503],
    },
    ({ params }) => dryRun(params.kind),
  );
}
