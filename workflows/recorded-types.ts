/**
 * The workflow types under which renamed workflows are started and recorded. Histories name them, and a worker of the release
 * before the rename knows no other: clients start these as long as fleets may mix the two, while workers register both names.
 */
export const recordedTypes = {
  cancelExecutionTree: 'executionTree',
  deliverHooks: 'taskTransition',
  temporaryAuthority: 'phaseExpansion',
} as const;
