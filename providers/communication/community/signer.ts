import { type CommunityEvent, communityEvent, type UnsignedEvent } from '../../../contracts/chat/community-event';
import { baseEnvironment } from '../../../platform/processes/environment/base-environment';
import type { RunProgram } from '../../../platform/processes/programs/program-runner';
import { eventId, isGenuine, publicKeyOf, signEvent } from './event';

/** Why nothing can be signed: a code and a sentence without secrets. */
export class SigningError extends Error {
  override readonly name = 'SigningError';

  constructor(
    readonly reasonCode: string,
    message: string,
  ) {
    super(message);
  }
}

/** Signs events as the identity of an adapter. @throws SigningError */
export type SignEvent = (event: Omit<UnsignedEvent, 'pubkey'>) => Promise<CommunityEvent>;

/** @param privateKey the value of the variable that the adapter names; anything */
export function keySigner(publicKey: string, privateKey: string): SignEvent {
  const key = privateKey.trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(key) || /^0+$/.test(key)) {
    throw new SigningError('credential-invalid', 'The credential is no private key of 64 hexadecimal digits.');
  }
  let own: string;
  try {
    own = publicKeyOf(key);
  } catch {
    throw new SigningError('credential-invalid', 'The credential is no private key of secp256k1.');
  }
  if (own !== publicKey) {
    throw new SigningError('identity-mismatch', 'The credential is the key of another identity than publicKey.');
  }
  return (event) => Promise.resolve(signEvent({ ...event, pubkey: publicKey }, key));
}

const limits = { timeoutMs: 10_000, maxOutputBytes: 262_144 };

/** A program that reads an event as JSON and writes it signed, so that the key of the identity is in no worker. */
export function commandSigner(
  publicKey: string,
  { executable, args }: { executable: string; args: readonly string[] },
  runProgram: RunProgram,
): SignEvent {
  return async (fields) => {
    const event = { ...fields, pubkey: publicKey };
    const end = await runProgram({
      file: executable,
      args,
      cwd: '/',
      env: baseEnvironment(process.env),
      input: JSON.stringify(event),
      ...limits,
    });
    if (end.exitCode !== 0) {
      const how = end.failure ?? `exit code ${end.exitCode}`;
      throw new SigningError('signing-failed', `The signing command ended without a signature: ${how}.`);
    }
    const signed = communityEvent.safeParse(parsed(end.stdout));
    if (!signed.success || signed.data.id !== eventId(event) || !isGenuine(signed.data)) {
      throw new SigningError('signing-failed', 'The signing command did not sign the event as publicKey.');
    }
    return signed.data;
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
