import type { Signed } from '../message-proofs';

/** A repository in a request to a host. */
export interface ConfiguredRepository {
  hostId: string;
  path: string;
  /** The remote it is configured with, which the repository has to know. */
  remote: string | null;
  allowFilters: string[];
  /** The branch that has to be there; not asked for by earlier versions. */
  defaultBranch?: string;
}

export type RepositorySetupInput = ConfiguredRepository & Signed;

/** Why a host cannot use the repository: the field of its configuration, and a sentence for people. */
export interface RepositoryProblem {
  field: 'path' | 'remote' | 'allowFilters' | 'defaultBranch';
  message: string;
}

/** Requested once and not stored; the id only has to be new. */
export const repositorySetupId = (unique: string): string => `repository-setup/${unique}`;
