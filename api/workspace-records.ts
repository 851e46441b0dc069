import { localWorkspace } from '../contracts/common';
import type { WorkspaceContext } from './context';

type Open = (workspaceId: string) => Promise<WorkspaceContext>;

/** The records of any workspace, for what a request is about that is made in none, or in another one. */
export class WorkspaceRecords {
  private open: Open | undefined;

  /** Where they are from, once the workspaces are served. */
  connect(open: Open): void {
    this.open = open;
  }

  /** Those of a workspace. @throws AppError 404 */
  of(workspaceId: string): Promise<WorkspaceContext> {
    if (!this.open) {
      throw new Error(`The records of ${workspaceId} are not served yet.`);
    }
    return this.open(workspaceId);
  }
}

/** Connects the records of all workspaces: those of `local`, and those that are opened when they are used. */
export const connectRecords = (records: WorkspaceRecords, local: WorkspaceContext, open: Open): void =>
  records.connect((workspaceId) => (workspaceId === localWorkspace ? Promise.resolve(local) : open(workspaceId)));
