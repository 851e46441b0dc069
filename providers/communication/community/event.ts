import { createHash } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1';
import type { CommunityEvent, UnsignedEvent } from '../../../contracts/chat/community-event';

/** Kinds of events: a message of a channel, and the two that prove who calls a relay (NIP-C7, NIP-42, NIP-98). */
export const eventKinds = { message: 9, relayAuth: 22_242, httpAuth: 27_235, application: 30_078 } as const;

/** The id of an event (NIP-01): the same for the same content, so that a relay knows repetitions by it. */
export const eventId = ({ pubkey, created_at: createdAt, kind, tags, content }: UnsignedEvent): string =>
  createHash('sha256')
    .update(JSON.stringify([0, pubkey, createdAt, kind, tags, content]))
    .digest('hex');

export const publicKeyOf = (privateKey: string): string =>
  Buffer.from(schnorr.getPublicKey(privateKey)).toString('hex');

export function signEvent(event: UnsignedEvent, privateKey: string): CommunityEvent {
  const id = eventId(event);
  return { ...event, id, sig: Buffer.from(schnorr.sign(id, privateKey)).toString('hex') };
}

/** Whether the event has the id of its content, and its author has signed that. */
export function isGenuine(event: CommunityEvent): boolean {
  try {
    return eventId(event) === event.id && schnorr.verify(event.sig, event.id, event.pubkey);
  } catch {
    return false;
  }
}

/** The first value of a tag. */
export const tagOf = ({ tags }: Pick<CommunityEvent, 'tags'>, name: string): string | undefined =>
  tags.find(([first]) => first === name)?.[1];
