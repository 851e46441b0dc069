import { type ClientCapabilities, type InitializeResponse, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import type { AcpConnection } from './connection';

/** How long an agent may take to report its capabilities, in milliseconds. */
export const handshakeMs = 15_000;

/**
 * Introduces us to the agent, with what we offer it.
 *
 * @throws Error when it does not respond in time, or speaks another version of the protocol
 */
export async function handshake(
  { agent }: Pick<AcpConnection, 'agent'>,
  clientCapabilities: ClientCapabilities,
  withinMs: number,
): Promise<InitializeResponse> {
  const answer = await within(
    withinMs,
    `The agent did not respond to the handshake within ${Math.round(withinMs / 1000)} seconds.`,
    agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities,
      clientInfo: { name: 'runboard', version: '1' },
    }),
  );
  if (answer.protocolVersion !== PROTOCOL_VERSION) {
    throw new Error(
      `The agent supports version ${answer.protocolVersion} of the protocol; version ${PROTOCOL_VERSION} is required.`,
    );
  }
  return answer;
}

/** Rejects with `message` when the promise takes longer. */
export async function within<T>(ms: number, message: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms);
  });
  // The promise that loses the race may still reject.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
