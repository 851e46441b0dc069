import { localWorkspace } from '../../contracts/common';
import type { WorkspaceStore } from './workspace-store';

/** Which workspaces there are besides `local`. */
export interface WorkspaceRegistry {
  exists(workspaceId: string): Promise<boolean>;
  /** The ids of all of them. */
  list(): Promise<string[]>;
}

/** Of an installation that has `local` alone. */
export const noOtherWorkspaces: WorkspaceRegistry = {
  exists: async () => false,
  list: async () => [],
};

/** Of those that were created. */
export const registryOf = (workspaces: Pick<WorkspaceStore, 'exists' | 'list'>): WorkspaceRegistry => ({
  exists: async (id) => id !== localWorkspace && (await workspaces.exists(id)),
  list: async () => (await workspaces.list()).map(({ id }) => id).filter((id) => id !== localWorkspace),
});
