/** An inventory is requested once and not stored; the id only has to be new. */
export const workspaceInventoryId = (unique: string): string => `workspace-inventory/${unique}`;
