import type { AgentConfig } from '../../contracts/settings/agent-config';
import { presetOf } from './presets';

/** A method of authentication that an agent names in its handshake. */
export interface AuthMethodOffer {
  id: string;
  name: string;
  description?: string | null | undefined;
}

export interface RefusedLogin {
  /** The name of the agent in its handshake. */
  agentName: string | undefined;
  methods: readonly AuthMethodOffer[];
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' or ');

/** What a person can do when an agent refuses to work without authentication: one sentence, its most likely remedy first. */
export function loginRemedy(
  { authMethod }: Pick<AgentConfig, 'authMethod'>,
  { agentName, methods }: RefusedLogin,
): string {
  const preset = presetOf(agentName);
  const key = preset?.authentication.find(({ id }) => id === 'key');
  const byLogin = preset?.login ? `run \`${preset.login}\` on the host as the user of its agents` : undefined;
  const byKey =
    key &&
    `set ${listed(key.environmentKeys)} for the worker and name it in environmentKeys` +
      (key.authMethod === null || key.authMethod === authMethod ? '' : `, with authMethod \`${key.authMethod}\``);
  const known = [byLogin, byKey].filter((part) => part !== undefined);
  if (known.length > 0) {
    return `${known.join(', or ')}.`;
  }
  return methods.length === 0
    ? 'log in with the program of the agent on the host, as the user of its agents.'
    : `set authMethod to one of the methods it offers: ${describeMethods(methods)}.`;
}

/** The methods as a list for people, bounded. */
export const describeMethods = (methods: readonly AuthMethodOffer[]): string =>
  methods
    .slice(0, 16)
    .map(({ id, name, description }) => `\`${id}\` (${description ? `${name}: ${description}` : name})`)
    .join(', ')
    .slice(0, 1_500);
