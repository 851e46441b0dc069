import { randomBytes } from 'node:crypto';
import type { AnswerRecord, IdempotencyKeys, KeyClaim } from '../../platform/http/limits/idempotency';
import type { Database, Stored } from '../port/collection';
import { insertOnce } from '../port/insert';

/** A key of a request, which is only stored as part of a SHA-256, and what has become of the request. */
interface KeyRecord extends Stored {
  requestDigest: string;
  /** 32 random bytes as hex: what the ids of the request are derived from. */
  seed: string;
  startedAt: string;
  /** The claim that holds the key, until when unless it is renewed. */
  holder: string;
  heldUntil: string;
  answer?: AnswerRecord;
}

/** How long a key is remembered, in seconds. */
export const keyLifetimeSeconds = 86_400;
/** A claim that is not renewed for this long belongs to a process that died or is stopped, in milliseconds. */
const claimMs = 10_000;

/** Idempotency keys of requests that make something. */
export async function createIdempotencyKeyStore(
  db: Database,
  now: () => Date = () => new Date(),
): Promise<IdempotencyKeys> {
  const keys = await db.collection<KeyRecord>({
    name: 'idempotency-keys',
    expire: { field: 'startedAt', afterSeconds: keyLifetimeSeconds },
  });
  const later = () => new Date(now().getTime() + claimMs).toISOString();
  const unanswered = (id: string, holder: string) => ({ _id: id, holder, answer: { $exists: false } });

  return {
    async claim(id, requestDigest): Promise<KeyClaim> {
      const token = randomBytes(12).toString('hex');
      const [seed, startedAt] = [randomBytes(32), now()];
      const fresh = { _id: id, requestDigest, seed: seed.toString('hex'), holder: token, heldUntil: later() };
      if (await insertOnce(keys, { ...fresh, startedAt: startedAt.toISOString() })) {
        return { state: 'claimed', token, seed, startedAt, repeated: false };
      }
      const existing = await keys.get(id);
      // Released, or expired, between the two reads.
      if (!existing) {
        return { state: 'under-way' };
      }
      if (existing.requestDigest !== requestDigest) {
        return { state: 'other-request' };
      }
      if (existing.answer) {
        return { state: 'answered', answer: existing.answer };
      }
      if (existing.heldUntil > now().toISOString()) {
        return { state: 'under-way' };
      }
      const { holder, heldUntil } = existing;
      const taken = await keys.findOneAndUpdate(
        { ...unanswered(id, holder), heldUntil },
        { $set: { holder: token, heldUntil: later() } },
      );
      if (!taken) {
        return { state: 'under-way' };
      }
      const first = { seed: Buffer.from(existing.seed, 'hex'), startedAt: new Date(existing.startedAt) };
      return { state: 'claimed', token, ...first, repeated: true };
    },

    async renew(id, token) {
      await keys.findOneAndUpdate(unanswered(id, token), { $set: { heldUntil: later() } });
    },

    async settle(id, token, answer) {
      if (await keys.findOneAndUpdate(unanswered(id, token), { $set: { answer } })) {
        return answer;
      }
      return (await keys.get(id))?.answer;
    },

    async release(id, token, { forget }) {
      if (forget) {
        await keys.deleteMany({ _id: id, holder: token });
      } else {
        await keys.findOneAndUpdate(unanswered(id, token), { $set: { heldUntil: '' } });
      }
    },
  };
}
