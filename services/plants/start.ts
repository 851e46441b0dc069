import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { PartEnvironment } from '../../platform/config/part-settings';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { createAuthFailures } from '../../platform/http/auth/auth-failures';
import { callerAddressBehind } from '../../platform/http/limits/caller-address';
import { listen } from '../../platform/http/server/server';
import type { Log } from '../../platform/log/log';
import { currentOperation, operationBytes } from '../../platform/operations/operation';
import { openDataDirectory } from '../../platform/processes/data-directory';
import { createProofVerifier } from '../../platform/temporal/proof-verifier';
import { type ActivityCaller, createActivityFence } from '../../platform/temporal/workers/activity-fence';
import { traceActivities } from '../../platform/tracing/activities';
import { openDatabase, storeOptions } from '../../stores/port/open';
import { createIdempotencyKeyStore } from '../../stores/system/idempotency-key-store';
import { openMessageProofs } from '../../stores/system/message-key-store';
import { createPlantActivities, type PlantActivities } from './activities';
import { createPlantApp, PlantError, plantRefusalBody } from './app';
import { createdUpdate, creationMessage, type DeliveryTimings, type PlantCreation } from './messages';
import type { NewPlant } from './plant';
import { createReceivers } from './receivers';
import { createPlantStore } from './store';
import type { plantCreation } from './workflow';

const plantsQueue = 'plants';

/** A receiver is tried for three days, at most every hour. */
const usualDelivery: DeliveryTimings = { firstPauseMs: 1_000, longestPauseMs: 3_600_000, giveUpAfterMs: 259_200_000 };

/** The workflow that schedules each activity. */
const plantActivityCallers: Record<keyof PlantActivities, ActivityCaller> = {
  storePlant: { workflows: ['plantCreation'] },
  deliver: { workflows: ['plantCreation'] },
  giveUp: { workflows: ['plantCreation'] },
};

const receiverTimeoutMs = 10_000;
/** How long a caller waits for Temporal before it is asked to retry. */
const createWithinMs = 10_000;

export interface PlantsOptions {
  env: PartEnvironment<'plants'>;
  log: Log;
  client: Client;
  connection: NativeConnection;
  workflows: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  /** Instead of the usual ones. */
  delivery?: DeliveryTimings;
  taskQueue?: string;
}

export interface RunningPlants {
  url: string;
  /** Rejects when the worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts the plant store: its API, and the worker that stores plants and notifies receivers of them. */
export async function startPlants(options: PlantsOptions): Promise<RunningPlants> {
  const { env, log, client, connection, delivery = usualDelivery, taskQueue = plantsQueue } = options;
  const dataDir = join(env.BOARD_DATA_DIR, 'plants');
  await openDataDirectory(env.BOARD_DATA_DIR, log);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase({ ...storeOptions(env), dataDir, log });
  const store = await createPlantStore(database);
  const receivers = createReceivers({
    urls: env.PLANTS_WEBHOOK_URLS,
    secret: env.PLANTS_WEBHOOK_SECRET,
    allowPrivate: env.PLANTS_WEBHOOK_ALLOW_PRIVATE,
    timeoutMs: receiverTimeoutMs,
  });
  const messageProofs = await openMessageProofs(database);
  const proofs = createProofVerifier({
    proofs: messageProofs,
    onRefused: async ({ subject, actor }, problem) =>
      log.warn({ subject, claimedActor: JSON.stringify(actor).slice(0, 200), problem }, 'unproven plant refused'),
  });
  const worker = await Worker.create({
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    taskQueue,
    activities: createPlantActivities({ store, receivers, log, proofs, now: () => new Date() }),
    interceptors: { activity: [createActivityFence({ callers: plantActivityCallers }), traceActivities] },
    ...options.workflows,
  });
  const ended = worker.run();
  const users = env.PLANTS_TOKENS;
  if (users.length === 0) {
    log.warn('PLANTS_TOKENS is empty: all plant store calls are refused');
  }
  const authFailures = createAuthFailures({
    limit: env.RATE_LIMIT_AUTH_FAILURES,
    addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
    report: (failure) => log.warn(failure, 'authentication failed'),
  });
  const create = (user: string, plant: NewPlant): Promise<boolean> =>
    createDurably({ client, taskQueue, messageProofs }, { user, ...plant, id: String(plant.id), delivery });
  const app = createPlantApp({
    store,
    users,
    create,
    idempotencyKeys: await createIdempotencyKeyStore(database),
    log,
    authFailures,
  });
  const server = await listen(app.callback(), {
    host: env.BOARD_HOST,
    port: env.PLANTS_PORT,
    setting: 'PLANTS_PORT',
    refusalBody: plantRefusalBody,
    log,
  });
  return {
    url: server.url,
    ended,
    async close() {
      await server.close();
      if (worker.getState() === 'RUNNING') {
        worker.shutdown();
      }
      await ended;
      await database.close();
    },
  };
}

/**
 * One workflow stores and announces the plant; its caller has the response as soon as it is stored. A request that is repeated
 * under its key has the workflow that the first one started.
 */
async function createDurably(
  { client, taskQueue, messageProofs }: { client: Client; taskQueue: string; messageProofs: MessageProofs },
  wanted: PlantCreation,
): Promise<boolean> {
  const workflowId = `plant/${operationBytes('plant', 16).toString('hex')}`;
  const creation = { ...wanted, proof: messageProofs.sign(creationMessage(workflowId, wanted), startProofMs) };
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof plantCreation>('plantCreation', {
    workflowId,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue,
    args: [creation],
    staticSummary: `plant ${creation.id} of ${creation.user}`,
  });
  try {
    const { created } = await client.withDeadline(Date.now() + createWithinMs, async () => {
      try {
        return await client.workflow.executeUpdateWithStart(createdUpdate, { startWorkflowOperation });
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) {
          return client.workflow.getHandle<typeof plantCreation>(workflowId).result();
        }
        throw error;
      }
    });
    return created;
  } catch (error) {
    currentOperation()?.noteWrite();
    throw new PlantError(503, 'The plant may not have been stored; read it, and try again.', {
      cause: error,
    });
  }
}
