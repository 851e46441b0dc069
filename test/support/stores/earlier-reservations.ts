import type { Capacity } from '../../../contracts/runs/admission';
import {
  blockedBy,
  type CapacityPolicy,
  evaluated,
  hostKey,
  nothing,
  resources,
  scopesOf,
} from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Database } from '../../../stores/port/collection';
import { insertOnce } from '../../../stores/port/insert';
import type { Holder } from '../../../stores/runs/admission/capacity-ledger';
import { holderOf, type ReservationRecord } from '../../../stores/runs/admission/reservation-record';

interface EarlierLedger {
  _id: 'ledger';
  usage: Record<string, Capacity>;
  holders: Record<string, Holder>;
}

const tries = 20;

const counted = (keys: string[], requested: Capacity, sign: 1 | -1): Record<string, number> =>
  Object.fromEntries(
    keys.flatMap((key) => resources.map((resource) => [`usage.${key}.${resource}`, sign * requested[resource]])),
  );

/**
 * Reservations as version 0.4.0 makes, releases and expires them: every run is counted in all of its scopes, and is a holder in
 * the ledger until it ends.
 *
 * @param db declares the collection of reservations already
 */
export async function earlierReservations(db: Database) {
  const ledgers = await db.collection<EarlierLedger>({ name: 'admission-ledger' });
  await insertOnce(ledgers, { _id: 'ledger', usage: {}, holders: {} });
  const reservations = await db.collection<ReservationRecord>({
    name: 'admission-reservations',
    indexes: [{ keys: { state: 1, leaseExpiresAt: 1 } }],
  });
  const read = async (): Promise<EarlierLedger> => {
    const ledger = await ledgers.get('ledger');
    if (!ledger) {
      throw new Error('The admission ledger is missing from the stores.');
    }
    return ledger;
  };

  async function hold(
    { attemptId, requested, ...request }: AdmissionRequest,
    policies: CapacityPolicy[],
    { generation, at }: { generation: number; at: string },
  ): Promise<{ held: boolean; blocked: CapacityPolicy[] }> {
    const keys = scopesOf(request).map(({ key }) => key);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const sufficientCapacity = Object.fromEntries(
        policies.map(({ key, resource, limit }) => [
          `usage.${key}.${resource}`,
          { $not: { $gt: limit - requested[resource] } },
        ]),
      );
      const changed = await ledgers.findOneAndUpdate(
        { _id: 'ledger', ...sufficientCapacity, [`holders.${attemptId}`]: { $exists: false } },
        {
          $inc: counted(keys, requested, 1),
          $set: { [`holders.${attemptId}`]: { generation, at, requested, keys } },
        },
      );
      if (changed) {
        return { held: true, blocked: [] };
      }
      const { holders, usage } = await read();
      const holder = holders[attemptId];
      if (holder) {
        if (holder.generation >= generation) {
          return { held: holder.generation === generation, blocked: [] };
        }
        await release(attemptId, holder);
        continue;
      }
      const blocked = blockedBy(policies, usage, requested);
      if (blocked.length > 0) {
        return { held: false, blocked };
      }
    }
    throw new Error('The ledger kept changing.');
  }

  const release = (id: string, { generation, keys, requested }: Omit<Holder, 'at'>) =>
    ledgers.findOneAndUpdate(
      { _id: 'ledger', [`holders.${id}.generation`]: generation },
      { $inc: counted(keys, requested, -1), $unset: { [`holders.${id}`]: '' } },
    );

  async function record(
    request: AdmissionRequest,
    policies: CapacityPolicy[],
    { generation, now, expiresAt }: { generation: number; now: string; expiresAt: string },
  ): Promise<ReservationRecord | undefined> {
    const fields = {
      ...request,
      state: 'active' as const,
      generation,
      hostKey: request.hostId === null ? null : hostKey(request.hostId),
      keys: scopesOf(request).map(({ key }) => key),
      evaluated: policies.map(evaluated),
      heartbeatAt: now,
      leaseExpiresAt: expiresAt,
      updatedAt: now,
    };
    if (generation > 1) {
      return reservations.findOneAndUpdate(
        { _id: request.attemptId, state: 'expired', generation: generation - 1 },
        { $set: fields, $unset: { endedAt: '' }, $inc: { revision: 1 } },
      );
    }
    const document: ReservationRecord = {
      ...fields,
      _id: request.attemptId,
      schemaVersion: 'admission-reservation/v1',
      revision: 1,
      committed: nothing,
      createdAt: now,
    };
    return (await insertOnce(reservations, document)) ? document : undefined;
  }

  return {
    async reserve(
      request: AdmissionRequest,
      policies: CapacityPolicy[],
      { now, leaseMs }: { now: Date; leaseMs: number },
    ): Promise<'held' | 'blocked' | 'over'> {
      const lease = { now: now.toISOString(), expiresAt: new Date(now.getTime() + leaseMs).toISOString() };
      for (let attempt = 0; attempt < tries; attempt += 1) {
        const existing = await reservations.get(request.attemptId);
        if (existing && existing.state !== 'expired') {
          return existing.state === 'active' ? 'held' : 'over';
        }
        const generation = (existing?.generation ?? 0) + 1;
        const { held, blocked } = await hold(request, policies, { generation, at: lease.now });
        if (blocked.length > 0) {
          return 'blocked';
        }
        if (!held) {
          continue;
        }
        const current =
          (await record(request, policies, { generation, ...lease })) ?? (await reservations.get(request.attemptId));
        if (current?.state === 'active' && current.generation === generation) {
          return 'held';
        }
        const keys = scopesOf(request).map(({ key }) => key);
        await release(request.attemptId, { generation, requested: request.requested, keys });
      }
      throw new Error(`The reservation of ${request.attemptId} kept changing.`);
    },

    async release(id: string, now: Date): Promise<void> {
      const releasedAt = now.toISOString();
      const given = { reason: 'completed' as const, releasedAt, evidence: 'done' };
      const changed = await reservations.findOneAndUpdate(
        { _id: id, state: { $in: ['active', 'expired'] } },
        {
          $set: { state: 'released', release: given, updatedAt: releasedAt, endedAt: releasedAt },
          $inc: { revision: 1 },
        },
      );
      const ended = changed ?? (await reservations.get(id));
      // 0.4.0 also released what was reserved between these two: that flaw of it is left out.
      if (ended && ended.state !== 'active') {
        await release(id, holderOf(ended));
      }
    },

    async releaseForRequeue(id: string, now: Date): Promise<void> {
      const at = now.toISOString();
      const changed = await reservations.findOneAndUpdate(
        { _id: id, state: 'active' },
        { $set: { state: 'expired', endedAt: at, updatedAt: at }, $inc: { revision: 1 } },
      );
      if (changed) {
        await release(id, holderOf(changed));
      }
    },

    usage: async () => (await read()).usage,
    holders: async () => Object.keys((await read()).holders),
  };
}

export type EarlierReservations = Awaited<ReturnType<typeof earlierReservations>>;
