import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { Database, Stored } from '../../../stores/port/collection';
import { insertOrGet } from '../../../stores/port/insert';

interface WorkspaceRecord extends Stored {
  /** The task queue of the host that has it. */
  queue: string;
  created_at: string;
}

export const workspacesDirectory = ({ BOARD_DATA_DIR }: { BOARD_DATA_DIR: string }): string =>
  join(resolve(BOARD_DATA_DIR), 'workflow-runs', 'workspaces');

/** Where files are that belong to the sandboxes of commands. */
export const sandboxDirectory = ({ BOARD_DATA_DIR }: { BOARD_DATA_DIR: string }): string =>
  join(resolve(BOARD_DATA_DIR), 'workflow-runs', 'sandbox');

/** The directory of a run on this host, in which its commands work. */
export interface Workspaces {
  /** Gives a run a workspace on this host unless it has one; returns the queue of the host that has it. */
  assign: (runId: string) => Promise<string>;
  /** Where the workspace of a run is, by the host that asks; `none` when it has none. */
  whereIs: (runId: string) => Promise<'here' | 'elsewhere' | 'none'>;
  /** The run's directory on this host, which is made when it is missing. */
  open: (runId: string) => Promise<string>;
  pathOf: (runId: string) => string;
}

/** A directory that a command names is not in the workspace. */
export class OutsideWorkspaceError extends Error {
  override readonly name = 'OutsideWorkspaceError';
}

export async function openWorkspaces(
  db: Database,
  { directory, queue, now }: { directory: string; queue: string; now: () => Date },
): Promise<Workspaces> {
  const records = await db.collection<WorkspaceRecord>({ name: 'workflow-run-workspaces' });
  const pathOf = (runId: string): string => join(directory, runId);
  return {
    pathOf,
    assign: async (runId) => (await insertOrGet(records, { _id: runId, queue, created_at: now().toISOString() })).queue,
    async whereIs(runId) {
      const record = await records.get(runId);
      return record === undefined ? 'none' : record.queue === queue ? 'here' : 'elsewhere';
    },
    async open(runId) {
      await mkdir(pathOf(runId), { recursive: true, mode: 0o700 });
      return realpath(pathOf(runId));
    },
  };
}

/**
 * A path within a workspace, without links that lead out of it.
 *
 * @param workspace without links
 * @throws OutsideWorkspaceError when it is elsewhere or not there
 */
export async function within(workspace: string, path: string): Promise<string> {
  const real = await realpath(join(workspace, path)).catch(() => undefined);
  if (real === undefined || (real !== workspace && !real.startsWith(workspace + sep))) {
    throw new OutsideWorkspaceError(`${path} is not in the workspace.`);
  }
  return real;
}

/** @throws OutsideWorkspaceError when it is no directory of the workspace */
export async function directoryWithin(workspace: string, path: string): Promise<string> {
  const real = await within(workspace, path);
  if (!(await lstat(real)).isDirectory()) {
    throw new OutsideWorkspaceError(`${path} is no directory.`);
  }
  return real;
}
