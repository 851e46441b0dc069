/** The schedule that has lost runs looked for, and the id of what it starts. */
export const reconcileId = 'reconcile';
