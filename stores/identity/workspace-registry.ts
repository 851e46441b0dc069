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
