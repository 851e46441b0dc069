import type { Client } from '@temporalio/client';
import type { RetentionKind, RetentionReport } from '../../contracts/system/retention';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { dryRunId, type RetentionInput } from './messages';

const pending = () =>
  new AppError('RETENTION_PENDING', {
    status: 503,
    message: 'The preview is still running. Try again.',
    details: { retryAfterMs: 5_000 },
  });

/** Counts what the next purge of a kind would remove, and removes nothing. */
export type PreviewRetention = (kind: RetentionKind) => Promise<RetentionReport>;

/** @throws AppError 503 `RETENTION_PENDING` when no worker responds in time */
export const createRetentionPreview =
  (client: Client): PreviewRetention =>
  (kind) =>
    withinDeadline(client, { pending }, () =>
      client.workflow.execute<(input: RetentionInput) => Promise<RetentionReport>>('retention', {
        workflowId: dryRunId(kind),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ kind, dryRun: true }],
        staticSummary: `count what the retention of ${kind} would remove`,
      }),
    );
