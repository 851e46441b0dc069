import { type InitializeResponse, RequestError } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { describeMethods, loginRemedy } from '../../../domain/agents/login-remedy';
import { within } from '../../../platform/operations/within';
import type { AcpConnection } from './connection';
import { AcpFailure, agentMessage, loginOf, methodsOf } from './failure';

/** How long an agent may take to authenticate, in milliseconds: one that waits for a browser would wait for ever. */
const authenticateMs = 60_000;

/**
 * Authenticates with the method that is configured; nothing without one.
 *
 * @throws AcpFailure `authentication-failed` when the agent does not offer the method, refuses it, or does not respond in time
 */
export async function authenticate(
  { agent }: Pick<AcpConnection, 'agent'>,
  config: Pick<AgentConfig, 'authMethod'>,
  introduction: InitializeResponse,
): Promise<void> {
  const { authMethod: methodId } = config;
  if (methodId === undefined) {
    return;
  }
  const methods = methodsOf(introduction);
  if (!methods.some(({ id }) => id === methodId)) {
    const offered =
      methods.length === 0 ? 'It offers none: leave authMethod out.' : `It offers ${describeMethods(methods)}.`;
    throw new AcpFailure('authentication-failed', `The agent has no authentication method ${methodId}`, offered);
  }
  const failed = (reason: string) =>
    new AcpFailure('authentication-failed', reason, loginRemedy(config, loginOf(introduction)));
  try {
    const late = failed(`Authentication with ${methodId} took more than ${authenticateMs / 1000} seconds`);
    await within(authenticateMs, late, agent.request('authenticate', { methodId }));
  } catch (error) {
    throw error instanceof RequestError
      ? failed(`Authentication with ${methodId} failed (${agentMessage(error)})`)
      : error;
  }
}
