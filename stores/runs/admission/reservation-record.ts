import type { Capacity, EvaluatedPolicy, ReleaseReason } from '../../../contracts/runs/admission';
import { nothing } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Count, Holder } from './capacity-ledger';

/** `admission-reservation/v1` as it is stored; its id is that of the attempt. */
export interface ReservationRecord extends AdmissionRequest {
  _id: string;
  schemaVersion: 'admission-reservation/v1';
  state: 'active' | 'released' | 'expired';
  revision: number;
  /** Raised when an expired reservation is made again. */
  generation: number;
  hostKey: string | null;
  /** Its scopes, by their keys in the ledger; versions up to 0.4.0 count it in all of them. */
  keys: string[];
  /** What the ledger counts for it, from its beginning until that is released. One of an earlier version is a holder instead. */
  counted?: Count & { generation: number };
  evaluated: EvaluatedPolicy[];
  leaseExpiresAt: string;
  heartbeatAt: string;
  /** What the run has used of its request; nothing until it is dispatched. */
  committed: Capacity;
  release?: { reason: ReleaseReason; releasedAt: string; evidence: string };
  /** Of an ended one: when it stopped counting. */
  endedAt?: string;
  createdAt: string;
  updatedAt: string;
}

/** What an earlier version counts for a reservation. */
export const holderOf = ({ generation, requested, keys }: ReservationRecord): Omit<Holder, 'at'> => ({
  generation,
  requested,
  keys,
});

/** The tombstone of a reservation whose maker died before writing it: expired, without an owner. */
export const tombstone = (
  id: string,
  { generation, requested, keys, at: createdAt }: Holder,
  at: string,
): ReservationRecord => ({
  _id: id,
  schemaVersion: 'admission-reservation/v1',
  version: 1,
  attemptId: id,
  taskId: '',
  workspaceId: '',
  rootTaskId: '',
  rootObjectiveId: '',
  agent: '',
  provider: '',
  phase: '',
  hostId: null,
  hostKey: null,
  keys,
  source: 'direct',
  edge: 'root',
  nodeId: id,
  parentNodeId: null,
  depth: 0,
  priority: 0,
  requested,
  requestedAt: createdAt,
  state: 'expired',
  revision: 1,
  generation,
  evaluated: [],
  leaseExpiresAt: at,
  heartbeatAt: createdAt,
  committed: nothing,
  endedAt: at,
  createdAt,
  updatedAt: at,
});
