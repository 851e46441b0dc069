import { z } from 'zod';
import { retentionKind, retentionReport } from '../../../contracts/system/retention';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';

/** What is purged, and when, is in the feature settings and Temporal's schedules; this shows what would be. */
export function retentionRoutes(routes: Routes, { previewRetention }: Pick<WorkflowContext, 'previewRetention'>): void {
  routes.add(
    {
      method: 'post',
      path: '/retention/:kind/dry-run',
      operationId: 'dryRunRetention',
      summary: 'Preview what the next purge of a kind would remove',
      tag: 'settings',
      permission: 'admin:manage',
      params: z.strictObject({ kind: retentionKind }),
      response: retentionReport,
      errors: [503],
    },
    ({ params }) => previewRetention(params.kind),
  );
}
