/** Names the workspace that an administrator of the installation acts in; `local` when absent. */
export const workspaceHeader = 'X-Board-Workspace';
