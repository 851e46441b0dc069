import type { Client } from '@temporalio/client';
import type { PartEnvironment } from '../../platform/config/part-settings';
import type { MessageProofs } from '../../platform/crypto/message-proof';
import type { Routes } from '../../platform/http/routing/routes';
import type { Log } from '../../platform/log/log';
import type { Models } from '../../platform/models/models';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Database } from '../../stores/port/collection';
import type { BoardClient } from './board/board-client';
import type { CommandSandbox } from './commands/command-sandbox';
import type { GraphCompiler } from './graph/graph-compiler';
import type { RunStore } from './runs/store';
import type { SchemaChecker } from './schemas/schema-checker';
import type { SessionStore } from './sessions/store';

/** What the areas of this service share. Built once per process (`open-context.ts`). */
export interface WorkflowRunsContext {
  env: PartEnvironment<'workflow-runs'>;
  log: Log;
  database: Database;
  client: Client;
  /** The queue this service's workflows and activities are on. */
  taskQueue: string;
  /** Signs the input and the messages of workflows. */
  messageProofs: MessageProofs;
  /** Verifies it where it is acted on. */
  proofs: ProofVerifier;
  runs: RunStore;
  models: Models;
  graphs: GraphCompiler;
  schemas: SchemaChecker;
  sessions: SessionStore;
  /** Confines commands; absent where none are run. */
  sandbox?: CommandSandbox | undefined;
  /** Launches agents; absent where none are launched. */
  board?: BoardClient | undefined;
  /** The task queue of what has to be done on this host. */
  hostQueue: string;
  now: () => Date;
  /** How often the workflows of active runs are looked up, in milliseconds; the dispatcher's own when absent. */
  reconcileEveryMs?: number | undefined;
  /** Aborts when the service ends: streams to callers stop. */
  ending: AbortSignal;
}

/** Adds the routes of one area, after opening what it needs besides. */
export type OpenArea = (context: WorkflowRunsContext) => Promise<(routes: Routes) => void>;
