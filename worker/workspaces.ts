import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { localWorkspace } from '../contracts/common';
import type { Log } from '../platform/log/log';
import { createOpenedOnce } from '../platform/operations/opened-once';
import type { Closer } from '../platform/processes/closers';
import { workspaceDirectory } from '../platform/processes/data-directory';
import type { SleepGuard } from '../platform/temporal/workers/sleep-guard';
import { createBoard } from '../stores/board-files/board';
import type { Board } from '../stores/board-files/types';
import { checkedBoard } from '../stores/board-files/wrappers/checked-board';
import type { WorkspaceRegistry } from '../stores/identity/workspace-registry';
import type { SharedStores } from '../stores/open-stores';
import type { Database } from '../stores/port/collection';
import { workspaceDatabase } from '../stores/port/workspace-database';
import { workspaceClient } from '../workflows/clients/workspace-client';
import type { WorkerParts } from './activities/shared';

/** The failure type of what is of a workspace that there is not. */
export const workspaceUnknown = 'WORKSPACE_UNKNOWN';

/** The parts of a worker that differ between workspaces. */
export type WorkspaceParts = Pick<WorkerParts, 'workspaceId' | 'directory' | 'database' | 'board' | 'client' | 'local'>;

/** Of `local`, and of the process. */
export interface LocalParts {
  dataDir: string;
  database: Database;
  /** Whether the task files are on this host. */
  board: Board | undefined;
  client: Client;
  stores: SharedStores;
  sleepGuard: Pick<SleepGuard, 'assertAwake'>;
  log: Log;
}

/** Opens what a worker needs of another workspace; what was opened is left to the closers. */
export async function openWorkspaceParts(
  { dataDir, database, board, client, stores, sleepGuard, log }: LocalParts,
  workspaceId: string,
  closers: Closer[],
): Promise<WorkspaceParts> {
  const directory = workspaceDirectory(dataDir, workspaceId);
  // A host without task files has none before its first run there, and its free space is looked at before that.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const files = board && (await createBoard({ dir: join(directory, 'tasks'), log }));
  if (files) {
    closers.push(() => files.close());
  }
  return {
    workspaceId,
    directory,
    database: workspaceDatabase(database, workspaceId),
    board: files && checkedBoard(files, sleepGuard.assertAwake),
    client: workspaceClient(client, workspaceId),
    local: { stores, client },
  };
}

/** The workspaces that the activities of a process are of. */
export interface WorkerWorkspaces<T> {
  /** @throws ApplicationFailure when there is no such workspace */
  of(workspaceId: string): Promise<T>;
  /** `local`, then all others, each when its turn comes; one that cannot be opened is logged and passed over. */
  each(): AsyncIterable<T>;
  close(): Promise<void>;
}

interface Builders<T> {
  local: () => Promise<T>;
  /** What it has opened is left to the closers. */
  other: (workspaceId: string, closers: Closer[]) => Promise<T>;
}

export function createWorkerWorkspaces<T>(
  { registry, log }: { registry: WorkspaceRegistry; log: Log },
  build: Builders<T>,
): WorkerWorkspaces<T> {
  const others = createOpenedOnce<T>(async (workspaceId, closers) => {
    if (!(await registry.exists(workspaceId))) {
      throw ApplicationFailure.create({
        type: workspaceUnknown,
        message: `There is no workspace ${workspaceId}.`,
        nonRetryable: true,
      });
    }
    return build.other(workspaceId, closers);
  }, log);
  let local: Promise<T> | undefined;
  const of = (workspaceId: string): Promise<T> =>
    workspaceId === localWorkspace ? (local ??= build.local()) : others.of(workspaceId);
  return {
    of,
    async *each() {
      yield await of(localWorkspace);
      for (const workspaceId of await registry.list()) {
        try {
          yield await of(workspaceId);
        } catch (err) {
          log.error({ err, workspaceId }, 'workspace not available');
        }
      }
    },
    close: () => others.close(),
  };
}
