import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { IssueSyncReport } from '../../contracts/integrations/issue-sync';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError, conflict } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { withinDeadline } from '../clients/deadline';
import { retryUpdate } from '../clients/retry-update';
import { withProof } from '../clients/with-proof';
import { issueSyncMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { changedSignal, issueSyncId, type IssueSyncInput, syncNowUpdate } from './messages';

interface Timings {
  BOARD_RETRY_BACKOFF_MS: number;
  BOARD_HEARTBEAT_TIMEOUT_MS: number;
}

/** How the synchronisation of a repository is started: once, whichever caller starts it. */
export const issueSyncOptions = (repo: string, env: Timings) => ({
  workflowId: issueSyncId(repo),
  taskQueue: boardQueue,
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  staticSummary: `synchronise the issues of ${repo}`,
  args: [{ repo, retryMs: env.BOARD_RETRY_BACKOFF_MS, heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS }] as [
    IssueSyncInput,
  ],
});

/** The workflows behind the endpoints of the issue synchronisation. */
export interface IssueSyncLauncher {
  /** Has a synchronisation read its configuration and its forge; one that was enabled starts. */
  wake(repo: string): Promise<void>;
  /** @throws AppError 409 `ISSUE_SYNC_DISABLED`, 429 `FORGE_RATE_LIMITED`, 502 with the reason of the forge, 503 */
  syncNow(repo: string, actor: string): Promise<IssueSyncReport>;
}

const pending = () =>
  new AppError('ISSUE_SYNC_PENDING', {
    status: 503,
    message: 'The synchronisation takes longer than a caller waits. It continues: read its status.',
    details: { retryAfterMs: 5_000, status: '/api/github/sync/status' },
  });

export function createIssueSyncLauncher(
  client: Client,
  { proofs, env, log }: { proofs: Pick<MessageProofs, 'sign'>; env: Timings; log: Log },
): IssueSyncLauncher {
  return {
    async wake(repo) {
      const { workflowIdConflictPolicy: _policy, ...options } = issueSyncOptions(repo, env);
      // The configuration is stored; a failure here is reconciled by the workers, which start what is missing every minute.
      await withinDeadline(client, { pending }, () =>
        client.workflow.signalWithStart('issueSync', { ...options, signal: changedSignal }),
      ).catch((error: unknown) => log.warn({ err: error, repo }, 'issue sync wake-up deferred'));
    },

    async syncNow(repo, actor) {
      const asked = { repo, actor };
      const proven = withProof(proofs, asked, { message: issueSyncMessage(asked), lifetimeMs: updateProofMs });
      const end = await retryUpdate(() =>
        withinDeadline(client, { pending }, () =>
          client.workflow.executeUpdateWithStart(syncNowUpdate, {
            args: [proven],
            startWorkflowOperation: new WithStartWorkflowOperation('issueSync', issueSyncOptions(repo, env)),
          }),
        ),
      );
      switch (end.status) {
        case 'done':
          return end.report;
        case 'disabled':
          throw disabledError(repo);
        case 'failed':
          throw failedError(end.failure);
      }
    },
  };
}

export const disabledError = (repo: string): AppError =>
  conflict(
    `The synchronisation of ${repo} is disabled. Enable it with PUT /api/github/sync/config.`,
    { repo, enabled: false },
    'ISSUE_SYNC_DISABLED',
  );

function failedError({ code, message, retryAt }: { code: string; message: string; retryAt: string | null }): AppError {
  if (retryAt === null) {
    return new AppError(code, { status: 502, message });
  }
  const retryAfterMs = Math.max(1_000, Date.parse(retryAt) - Date.now());
  return new AppError(code, { status: 429, message, details: { retryAt, retryAfterMs } });
}
