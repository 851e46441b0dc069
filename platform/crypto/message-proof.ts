import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isMessageProof, type MessageProof } from './message-proof-shape';

/** A message as it is proven: nothing of it can be changed, and it proves nothing about another subject or purpose. */
export interface ProvenMessage {
  purpose: string;
  subject: string;
  actor: string;
  /** JSON: the message without its proof. */
  body: unknown;
}

/** What is wrong with a proof. */
export type ProofProblem =
  'missing' | 'malformed' | 'forged' | 'wrong-purpose' | 'wrong-subject' | 'wrong-actor' | 'wrong-body' | 'expired';

export class MessageProofError extends Error {
  override readonly name = 'MessageProofError';

  constructor(readonly problem: ProofProblem) {
    super(`The proof of the message is ${problem.replace('-', ' of the ')}.`);
  }
}

/** How long a proof counts for a message that is delivered while its sender waits, in milliseconds. */
export const updateProofMs = 120_000;

/**
 * How long a proof counts for the start of a workflow, in milliseconds: Temporal queues a start for as long as no worker polls.
 * Only for what is done once by the ids in it, however often it is sent.
 */
export const startProofMs = 30 * 86_400_000;

/** How far the clock of the signer may be behind that of the Temporal server, in milliseconds; ahead does not matter. */
const clockSkewMs = 120_000;

/**
 * Proves messages between processes that share a key, over a transport that proves nothing (HMAC-SHA256).
 *
 * @param key at least 32 random bytes
 */
export function createMessageProofs(key: Buffer, now: () => Date = () => new Date()) {
  const macOf = (claims: Omit<MessageProof, 'mac'>): string =>
    createHmac('sha256', key).update('runboard message proof v1\n').update(canonical(claims)).digest('base64url');

  return {
    /** @param lifetimeMs how long the proof counts from now on, in milliseconds */
    sign({ purpose, subject, actor, body }: ProvenMessage, lifetimeMs: number): MessageProof {
      const issued = now();
      const claims = {
        purpose,
        subject,
        actor,
        digest: digestOf(body),
        issuedAt: issued.toISOString(),
        expiresAt: new Date(issued.getTime() + lifetimeMs).toISOString(),
      };
      return { ...claims, mac: macOf(claims) };
    },

    /**
     * Checks that exactly this message was signed, and that its proof counted when it was accepted.
     *
     * @param acceptedAt when Temporal took the message in; what comes later, however late, does not matter
     * @throws MessageProofError
     */
    verify(message: ProvenMessage, proof: unknown, acceptedAt: Date = now()): void {
      if (proof === undefined || proof === null) {
        throw new MessageProofError('missing');
      }
      if (!isMessageProof(proof)) {
        throw new MessageProofError('malformed');
      }
      const { purpose, subject, actor, digest, issuedAt, expiresAt, mac } = proof;
      const expected = Buffer.from(macOf({ purpose, subject, actor, digest, issuedAt, expiresAt }));
      // As texts: many spell the same bytes, and a receiver may know a message by its proof.
      const presented = Buffer.from(mac);
      if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) {
        throw new MessageProofError('forged');
      }
      if (purpose !== message.purpose) {
        throw new MessageProofError('wrong-purpose');
      }
      if (subject !== message.subject) {
        throw new MessageProofError('wrong-subject');
      }
      if (actor !== message.actor) {
        throw new MessageProofError('wrong-actor');
      }
      if (digest !== digestOf(message.body)) {
        throw new MessageProofError('wrong-body');
      }
      // Signed in the future is signed by a host whose clock is ahead: only the service's processes have the key.
      const inTime = acceptedAt.getTime() <= Date.parse(expiresAt) + clockSkewMs;
      if (!inTime) {
        throw new MessageProofError('expired');
      }
    },
  };
}

export type MessageProofs = ReturnType<typeof createMessageProofs>;

const digestOf = (body: unknown): string => createHash('sha256').update(canonical(body)).digest('base64url');

function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) {
    throw new TypeError('Only JSON values can be signed.');
  }
  return text;
}
