import type { Position } from '../../platform/lists/page';
import type { Signed } from '../message-proofs';
import type { ConfiguredRepository, RepositoryProblem } from '../repository-setup/messages';

/** A repository that might be configured like this. */
export interface CandidateRepository extends ConfiguredRepository {
  defaultBranch: string;
  /** Whether a remote may be asked for a branch that is not here. */
  askRemotes: boolean;
}

export type RepositoryInspectionInput = CandidateRepository & Signed;

/** What a host finds out about a repository. Where it cannot be read there is only a problem of `path`. */
export interface InspectedRepository {
  problems: RepositoryProblem[];
  head?: { branch?: string; commit?: string };
  remotes?: string[];
}

/** A page of the branches of a configured repository. */
export interface BranchPageRequest {
  hostId: string;
  path: string;
  /** The first page when absent. */
  cursor?: Position;
  limit: number;
}

export type RepositoryBranchesInput = BranchPageRequest & Signed;

export interface BranchPage {
  branches: { name: string; head: string; remote?: string }[];
  /** Absent at the end. */
  next?: Position;
  /** Branches whose names cannot be used. */
  unlisted: number;
}

/** Requested once and not stored; the id only has to be new. */
export const repositoryViewId = (unique: string): string => `repository-view/${unique}`;
