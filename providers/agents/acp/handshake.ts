import { type ClientCapabilities, type InitializeResponse, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { within } from '../../../platform/operations/within';
import type { AcpConnection } from './connection';
import { AcpFailure } from './failure';

/** How long an agent may take to report its capabilities where its configuration does not say, in seconds. */
const usualSeconds = 15;

/** How long an agent may take to report its capabilities, in milliseconds; the first start of `npx -y` downloads a package. */
export const handshakeMsOf = ({ handshakeSeconds = usualSeconds }: Pick<AgentConfig, 'handshakeSeconds'>): number =>
  handshakeSeconds * 1_000;

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
  const late = new AcpFailure(
    'handshake-timeout',
    `The agent did not respond to the handshake within ${Math.round(withinMs / 1000)} seconds`,
    'raise handshakeSeconds of the agent where its first start downloads a package, or run its command on the host.',
  );
  const answer = await within(
    withinMs,
    late,
    agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities,
      clientInfo: { name: 'runboard', version: '1' },
    }),
  );
  if (answer.protocolVersion !== PROTOCOL_VERSION) {
    throw new AcpFailure(
      'protocol-version',
      `The agent supports version ${answer.protocolVersion} of the protocol; version ${PROTOCOL_VERSION} is required`,
      'install a version of the agent that speaks it.',
    );
  }
  return answer;
}
