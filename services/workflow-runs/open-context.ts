import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { PartEnvironment } from '../../platform/config/part-settings';
import type { Log } from '../../platform/log/log';
import { openModels } from '../../platform/models/open';
import { operationTime } from '../../platform/operations/operation';
import { openDataDirectory } from '../../platform/processes/data-directory';
import { persistentId } from '../../platform/processes/persistent-id';
import { createProofVerifier } from '../../platform/temporal/proof-verifier';
import { openDatabase, storeOptions } from '../../stores/port/open';
import { openMessageProofs } from '../../stores/system/message-key-store';
import { createBoardClient } from './board/board-client';
import type { CommandSandbox } from './commands/command-sandbox';
import type { WorkflowRunsContext } from './context';
import { createGraphCompiler } from './graph/graph-compiler';
import { createRunStore } from './runs/store';
import { createSchemaChecker } from './schemas/schema-checker';
import { createSessionStore } from './sessions/store';

const usualQueue = 'workflow-runs';

export interface ContextOptions {
  env: PartEnvironment<'workflow-runs'>;
  log: Log;
  client: Client;
  taskQueue?: string;
  /** Confines commands of runs; without it they are refused. */
  sandbox?: CommandSandbox | undefined;
  now?: () => Date;
  /** How often the workflows of active runs are looked up, in milliseconds. */
  reconcileEveryMs?: number;
}

/**
 * Opens the stores, the models and the helpers of the service.
 *
 * @param ending aborts when the service ends
 */
export async function openContext(
  { env, log, client, taskQueue = usualQueue, now = operationTime, sandbox, reconcileEveryMs }: ContextOptions,
  ending: AbortSignal,
): Promise<WorkflowRunsContext> {
  const dataDir = join(env.BOARD_DATA_DIR, 'workflow-runs');
  await openDataDirectory(env.BOARD_DATA_DIR, log);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // An invalid catalog fails the start before anything else is opened.
  const models = await openModels({ path: env.WORKFLOW_RUNS_MODELS, dryRun: env.WORKFLOW_RUNS_DRY_RUN }, log);
  const database = await openDatabase({ ...storeOptions(env), dataDir, log });
  const messageProofs = await openMessageProofs(database);
  const hostId = await persistentId(join(dataDir, 'host-id'), () => randomBytes(8).toString('hex'));
  return {
    env,
    log,
    database,
    client,
    taskQueue,
    hostQueue: `${taskQueue}/${hostId}`,
    messageProofs,
    proofs: createProofVerifier({
      proofs: messageProofs,
      onRefused: async ({ purpose, subject }, problem) =>
        log.warn({ purpose, subject, problem }, 'unsigned message refused'),
    }),
    runs: await createRunStore(database),
    sessions: await createSessionStore(database),
    models,
    graphs: createGraphCompiler(),
    schemas: createSchemaChecker(),
    sandbox,
    board: boardOf(env),
    now,
    reconcileEveryMs,
    ending,
  };
}

const boardOf = ({ WORKFLOW_RUNS_BOARD_URL: url, WORKFLOW_RUNS_BOARD_TOKEN: token }: ContextOptions['env']) =>
  url === undefined ? undefined : createBoardClient({ url, token });
