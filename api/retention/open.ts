import { AppError } from '../../platform/errors/app-error';
import type { RetentionKind, RetentionReport } from '../../contracts/retention';
import { boardQueue } from '../../workflows/queues';
import { dryRunId, type RetentionInput } from '../../workflows/retention/messages';
import type { OpenArea } from '../durable-context';
import { withinDeadline } from '../temporal/deadline';
import { retentionRoutes } from './routes';

const pending = () =>
  new AppError('RETENTION_PENDING', 503, 'The look at what is due goes on. Ask again.', { retryAfterMs: 5_000 });

export const openRetention: OpenArea = async ({ client }) => {
  const dryRun = (kind: RetentionKind): Promise<RetentionReport> =>
    withinDeadline(client, pending, () =>
      client.workflow.execute<(input: RetentionInput) => Promise<RetentionReport>>('retention', {
        workflowId: dryRunId(kind),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ kind, dryRun: true }],
        staticSummary: `count what the retention of ${kind} would remove`,
      }),
    );
  return (routes) => retentionRoutes(routes, { dryRun });
};
