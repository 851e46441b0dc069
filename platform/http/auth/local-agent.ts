import { AppError } from '../../errors/app-error';
import type { AuthContext } from './auth';
import type { CredentialRequest } from './credentials';
import { isLocalRequest } from './loopback';

/** Capabilities of a client that let it start and steer agents; one of them suffices. */
export const localAgentCapabilities = [
  'desktop:local',
  'agent:run:local',
  'agent:run:unrestricted',
  'local-agent:run',
] as const;
export type LocalAgentCapability = (typeof localAgentCapabilities)[number];

/** Modes of clients that have it by what they are. */
const localClientModes: readonly string[] = ['desktop-local', 'cli'];

/** Whether a client may start and steer agents wherever it is. */
export const isLocalAgentClient = ({
  capabilities = [],
  clientMode = '',
}: Pick<AuthContext, 'capabilities' | 'clientMode'>): boolean =>
  localAgentCapabilities.some((one) => capabilities.includes(one)) || localClientModes.includes(clientMode);

/** Whether a caller may start and steer agents: with such a client, or on this machine. */
export const mayRunAgents = (auth: AuthContext, { headers, connection }: CredentialRequest): boolean =>
  isLocalAgentClient(auth) || isLocalRequest(headers, connection);

/** @throws AppError `FORBIDDEN` 403 for a caller that may neither start nor steer agents */
export function assertMayRunAgents(auth: AuthContext, request: CredentialRequest): void {
  if (mayRunAgents(auth, request)) {
    return;
  }
  const { role, permissions, capabilities = [], clientMode } = auth;
  throw new AppError('FORBIDDEN', {
    status: 403,
    message:
      'From elsewhere, agents are started and steered by clients with a capability for it. Use this machine, a client of the mode ' +
      `${localClientModes.join(' or ')}, or a credential with one of: ${localAgentCapabilities.join(', ')}.`,
    details: {
      required: localAgentCapabilities,
      currentRole: role,
      currentPermissions: permissions,
      currentCapabilities: capabilities,
      ...(clientMode !== undefined && { clientMode }),
    },
  });
}
