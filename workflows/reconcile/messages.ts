/** The schedule of the reconciliation of lost runs, and the id of what it starts. */
export const reconcileId = 'reconcile';
