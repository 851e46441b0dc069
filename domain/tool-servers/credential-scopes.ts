import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import type { Refusal } from '../../contracts/refusal';
import type { CredentialScope } from '../../contracts/settings/settings';
import { refusal } from '../refusal';

/** The variable of each scope that may be used. */
export const enabledScopes = (scopes: readonly CredentialScope[]): Map<string, string> =>
  new Map(scopes.filter(({ enabled }) => enabled).map(({ name, environmentKey }) => [name, environmentKey]));

/** Why the credentials of a definition may not be used: one of its scopes is unknown, or disabled. */
export function credentialProblem(
  { id, transport }: Pick<ToolServerDefinition, 'id' | 'transport'>,
  scopes: readonly CredentialScope[],
): Refusal | undefined {
  const enabled = enabledScopes(scopes);
  const scope = transport.credentialReferences.find((name) => !enabled.has(name));
  if (scope === undefined) {
    return undefined;
  }
  const state = scopes.some(({ name }) => name === scope) ? 'disabled' : 'unknown';
  const message = `The tool server ${id} names the credential scope ${scope}, which is ${state}.`;
  const remediation = 'Add or enable the scope at toolServers.credentialScopes of the feature settings.';
  return refusal('CREDENTIAL_SCOPE_UNAVAILABLE', message, { serverId: id, scope, state, remediation });
}
