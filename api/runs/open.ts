import type { Client } from '@temporalio/client';
import type { MessageProofs } from '../../platform/crypto/message-proof';
import { createAdmissionRequestStore } from '../../stores/admission-request-store';
import { createActiveRunStore } from '../../stores/active-run-store';
import { createCallbackSecretStore } from '../../stores/callback-secret-store';
import { createClaimStore } from '../../stores/claim-store';
import { createConversationStore } from '../../stores/conversation-store';
import { createHostStore } from '../../stores/host-store';
import { createLaunchStore } from '../../stores/launch-store';
import { createRecoveryStore } from '../../stores/recovery-store';
import { createRunCommandStore } from '../../stores/run-command-store';
import { createRunEventStore } from '../../stores/run-event-store';
import { createTreeStore } from '../../stores/tree-store';
import { createWorktreeStore } from '../../stores/worktree-store';
import type { ApiContext } from '../context';
import type { AskHost } from '../temporal/ask-host';
import type { RunsContext } from './context';
import { createRunLauncher } from './launcher';

/** Opens what the endpoints of runs and the live feed need, on the stores of this process. */
export async function openRuns(
  context: ApiContext,
  { client, ask, proofs }: { client: Client; ask: AskHost; proofs: MessageProofs },
): Promise<RunsContext> {
  const {
    env,
    database,
    board,
    routing,
    traces,
    telemetry,
    repositories,
    profiles,
    sandboxes,
    taskCheckpoints,
    attempts,
    feed,
    audit,
    settings: featureSettings,
  } = context;
  const [events, launches, recoveries, claims, hosts, worktrees, commands] = await Promise.all([
    createRunEventStore(database, feed),
    createLaunchStore(database),
    createRecoveryStore(database),
    createClaimStore(database),
    createHostStore(database),
    createWorktreeStore(database),
    createRunCommandStore(database),
  ]);
  const conversations = await createConversationStore(database);
  const admissionRequests = await createAdmissionRequestStore(database);
  const activeRuns = await createActiveRunStore(database);
  const callbackSecrets = await createCallbackSecretStore(database);
  return {
    board,
    routing,
    traces,
    telemetry,
    repositories,
    profiles,
    sandboxes,
    taskCheckpoints,
    featureSettings,
    worktrees,
    hosts,
    attempts,
    admissionRequests,
    activeRuns,
    audit,
    trees: await createTreeStore(database),
    launches,
    recoveries,
    callbackSecrets,
    claims,
    commands,
    conversations,
    events,
    launcher: createRunLauncher(client, ask, proofs),
    settings: {
      timings: {
        runTimeoutMs: env.BOARD_RUN_TIMEOUT_MS,
        heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS,
        retryBackoffMs: context.env.BOARD_RETRY_BACKOFF_MS,
      },
    },
  };
}
