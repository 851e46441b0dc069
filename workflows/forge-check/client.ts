import { createHash } from 'node:crypto';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { ForgeCheckResult, ForgeConnection } from '../../contracts/integrations/forge';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { forgeCheckId, type ForgeCheckInput } from './messages';

/** Has a worker check the forge of a repository; `null` when none responds. */
export type CheckForge = (repo: string, connection: ForgeConnection) => Promise<ForgeCheckResult | null>;

/** How long a result is returned again, in milliseconds: a status that is read often is not a request each time. */
const cachedMs = 30_000;
const withinMs = 15_000;

const digestOf = (connection: ForgeConnection): string =>
  createHash('sha256').update(JSON.stringify(connection)).digest('hex').slice(0, 16);

/** The checks of this process, each result for half a minute; concurrent requests of all processes share a workflow. */
export function createForgeCheck(client: Client, now: () => Date): CheckForge {
  const cached = new Map<string, { result: ForgeCheckResult; until: number }>();

  const run = (workflowId: string, repo: string): Promise<ForgeCheckResult> =>
    withinDeadline(client, { pending, withinMs }, () =>
      client.workflow.execute<(input: ForgeCheckInput) => Promise<ForgeCheckResult>>('forgeCheck', {
        workflowId,
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowExecutionTimeout: '30 seconds',
        staticSummary: `check the forge of ${repo}`,
        args: [{ repo }],
      }),
    );

  return async (repo, connection) => {
    const workflowId = forgeCheckId(repo, digestOf(connection));
    const time = now().getTime();
    for (const [id, { until }] of cached) {
      if (until <= time) {
        cached.delete(id);
      }
    }
    const stored = cached.get(workflowId);
    if (stored) {
      return stored.result;
    }
    try {
      const result = await run(workflowId, repo);
      cached.set(workflowId, { result, until: now().getTime() + cachedMs });
      return result;
    } catch (error) {
      // A status is readable without workers, and reports that there are none.
      if (error instanceof AppError || error instanceof WorkflowFailedError) {
        return null;
      }
      throw error;
    }
  };
}

const pending = () => new AppError('FORGE_CHECK_PENDING', { status: 503, message: 'No worker responded in time.' });
