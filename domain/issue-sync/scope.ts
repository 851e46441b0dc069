/** Who changes what a synchronisation changes. */
export const issueSyncActor = 'system:issue-sync';

/** The repository at its forge, whatever it is called here: what issues are identified in. */
export const scopeOf = ({ kind, repository }: { kind: string; repository: string }): string =>
  `${kind}:${repository.toLowerCase()}`;
