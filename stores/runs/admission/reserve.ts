import {
  type CapacityPolicy,
  countedScopes,
  evaluated,
  hostKey,
  nothing,
  plus,
  rootTaskKey,
  scopesOf,
  type Usage,
} from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Collection } from '../../port/collection';
import { insertOnce } from '../../port/insert';
import { type Count, entryOf, type Ledger } from './capacity-ledger';
import { type CountingStores, isCountedFor } from './ledger-settlement';
import { releaseCount } from './release-count';
import type { ReservationRecord } from './reservation-record';

export type ReserveOutcome =
  | { outcome: 'held'; reservation: ReservationRecord }
  | { outcome: 'blocked'; policies: CapacityPolicy[]; usage: Usage }
  /** It has been released: the requesting attempt is over. */
  | { outcome: 'over' };

interface Lease {
  now: string;
  expiresAt: string;
}

interface ReserveStores extends CountingStores {
  /** The reservations that may be read and changed for the caller. */
  own: Collection<ReservationRecord>;
  /** Keeps the ledger small, given what it has become. */
  tidy: (ledger: Ledger) => Promise<void>;
}

/** How often a reservation is tried while others change the same. */
const tries = 20;

/** Reserves in the ledger first, and writes the reservation second. */
export function createReserve({ ledger, reservations: all, own: reservations, tidy }: ReserveStores) {
  return async (request: AdmissionRequest, policies: CapacityPolicy[], lease: Lease): Promise<ReserveOutcome> => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const outcome = await tryToReserve(request, policies, lease);
      if (outcome) {
        return outcome;
      }
    }
    throw new Error(`The reservation of ${request.attemptId} kept changing. Try again.`);
  };

  /** One try of a reservation; `undefined` when something has changed meanwhile. */
  async function tryToReserve(
    request: AdmissionRequest,
    policies: CapacityPolicy[],
    lease: Lease,
  ): Promise<ReserveOutcome | undefined> {
    const id = request.attemptId;
    const seen = await ledger.read();
    const existing = await reservations.get(id);
    if (existing?.state === 'active') {
      return { outcome: 'held', reservation: existing };
    }
    if (existing?.state === 'released') {
      return { outcome: 'over' };
    }
    if (existing?.counted) {
      // An earlier generation, which has ended, is counted until that is cleared.
      await releaseCount({ ledger, reservations: all }, { ended: existing, seen });
      const { generation } = existing.counted;
      await all.findOneAndUpdate({ _id: id, 'counted.generation': generation }, { $unset: { counted: '' } });
      return undefined;
    }
    const generation = (existing?.generation ?? 0) + 1;
    const holder = seen.holders[id];
    if (holder && holder.generation < generation) {
      await ledger.releaseHolder(id, holder);
      return undefined;
    }
    if (holder?.generation === generation) {
      // Counted by an earlier version, whose process died or writes the reservation just now.
      const current = await recorded(request, policies, { generation, lease, count: undefined });
      const isHeld = current?.state === 'active' && current.generation === generation;
      if (!isHeld || isCountedFor(current, generation)) {
        await ledger.releaseHolder(id, holder);
      }
      return isHeld ? { outcome: 'held', reservation: current } : undefined;
    }
    const entry = entryOf(id, generation);
    const keys = countedScopes(request, policies).map(({ key }) => key);
    const answer = await ledger.count(
      entry,
      { at: lease.now, requested: request.requested, keys },
      { policies: await lessUncounted(request, policies), epoch: seen.epoch },
    );
    if (answer.outcome === 'blocked') {
      const names = answer.policies.map(({ policy }) => policy);
      return { ...answer, policies: policies.filter(({ policy }) => names.includes(policy)) };
    }
    if (answer.outcome === 'changed') {
      return undefined;
    }
    const current = await recorded(request, policies, { generation, lease, count: answer.count });
    if (!isCountedFor(current, generation)) {
      await ledger.retract(entry);
    }
    await tidy(answer.ledger);
    return current?.state === 'active' && current.generation === generation
      ? { outcome: 'held', reservation: current }
      : undefined;
  }

  /** Ceilings of a root task, less what its runs hold from before it had one: the ledger counts that in other scopes only. */
  async function lessUncounted(request: AdmissionRequest, policies: CapacityPolicy[]): Promise<CapacityPolicy[]> {
    const key = rootTaskKey(request);
    if (!policies.some((policy) => policy.key === key)) {
      return policies;
    }
    const { rootTaskId, workspaceId: own } = request;
    // Written so that the index of root tasks is the one that narrows.
    const active = await all.find({ rootTaskId, state: { $in: ['active'] } });
    const uncounted = active
      .filter(({ workspaceId: other, counted }) => other === own && counted && !counted.keys.includes(key))
      .reduce((sum, { requested }) => plus(sum, requested), nothing);
    return policies.map((policy) =>
      policy.key === key ? { ...policy, limit: policy.limit - uncounted[policy.resource] } : policy,
    );
  }

  /** Writes the reservation that the ledger counts, unless another writer was first. Returns the one that there is. */
  async function recorded(
    request: AdmissionRequest,
    policies: CapacityPolicy[],
    { generation, lease, count }: { generation: number; lease: Lease; count: Count | undefined },
  ): Promise<ReservationRecord | undefined> {
    const fields = {
      ...request,
      state: 'active' as const,
      generation,
      hostKey: request.hostId === null ? null : hostKey(request.hostId),
      keys: scopesOf(request).map(({ key }) => key),
      ...(count ? { counted: { generation, requested: count.requested, keys: count.keys } } : {}),
      evaluated: policies.map(evaluated),
      heartbeatAt: lease.now,
      leaseExpiresAt: lease.expiresAt,
      updatedAt: lease.now,
    };
    if (generation > 1) {
      const again = await reservations.findOneAndUpdate(
        {
          _id: request.attemptId,
          state: 'expired',
          generation: generation - 1,
          'counted.generation': { $exists: false },
        },
        { $set: fields, $unset: { endedAt: '' }, $inc: { revision: 1 } },
      );
      return again ?? reservations.get(request.attemptId);
    }
    const document: ReservationRecord = {
      ...fields,
      _id: request.attemptId,
      schemaVersion: 'admission-reservation/v1',
      revision: 1,
      committed: nothing,
      createdAt: lease.now,
    };
    return (await insertOnce(reservations, document)) ? document : reservations.get(request.attemptId);
  }
}
