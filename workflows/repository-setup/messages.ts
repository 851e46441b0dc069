import type { Signed } from '../message-proofs';

/** A repository as a host is asked about it. */
export interface RepositoryPlace {
  hostId: string;
  path: string;
  /** The remote it is configured with, which the repository has to know. */
  remote: string | null;
  allowFilters: string[];
}

export type RepositorySetupInput = RepositoryPlace & Signed;

/** Why a host cannot use the repository: the field of its configuration, and a sentence for people. */
export interface RepositoryProblem {
  field: 'path' | 'remote' | 'allowFilters';
  message: string;
}

/** Asked for once and kept nowhere; the id only has to be new. */
export const repositorySetupId = (unique: string): string => `repository-setup/${unique}`;
