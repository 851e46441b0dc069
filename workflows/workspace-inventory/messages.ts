/** Looking is asked for once and kept nowhere; the id only has to be new. */
export const workspaceInventoryId = (unique: string): string => `workspace-inventory/${unique}`;
