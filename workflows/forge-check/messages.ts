/** A configured repository, whose forge and credential are read where they are used. */
export interface ForgeCheckInput {
  repo: string;
}

/** One check of a configuration at a time: a request that is repeated joins it. */
export const forgeCheckId = (repo: string, digest: string): string => `forge-check/${repo}/${digest}`;
