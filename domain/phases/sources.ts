import type { AllowedSideEffect } from '../../contracts/runs/launch/contract';
import { type PhaseDimension, phaseDimension } from '../../contracts/runs/phase';
import type { Profile } from '../../contracts/settings/profile';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { type Authority, everything, mapAuthority } from './authority';
import type { Sources } from './evidence';

export interface SourceInput {
  sandbox: SandboxPreset | null;
  profile: Pick<Profile, 'restrictions'> | null;
  /** What the policy of the task lets the run do; `null` when it does not state it. */
  allowedSideEffects: readonly AllowedSideEffect[] | null;
}

/** Everything beside its parent that limits what a run may do. One that states nothing restricts nothing. */
export const launchSources = ({ sandbox, profile, allowedSideEffects }: SourceInput): Sources => ({
  ...sandboxAuthority(sandbox),
  ...profileAuthority(profile),
  ...catalogAuthority(profile),
  ...policyAuthority(allowedSideEffects),
});

const scoped = (overrides: Partial<Record<PhaseDimension, string[]>>, otherwise: string[]): Authority =>
  mapAuthority((dimension) => ({ scopes: overrides[dimension] ?? otherwise, approval: [] }));

/** What a sandbox preset allows; a preset that only advises restricts nothing. */
export function sandboxAuthority(preset: SandboxPreset | null): Sources {
  if (preset?.enforcement !== 'required') {
    return {};
  }
  const { network, credentials } = preset;
  const closed = {
    ...(network.defaultEgress === 'deny' ? { 'network.egress': network.allowedHosts } : {}),
    ...(credentials.mode === 'broker' ? { 'credential.access': credentials.brokerRefs } : {}),
  };
  return { sandbox: scoped(closed, [everything]) };
}

/**
 * What the permissions of a profile allow: `dimension` for all of it, `dimension:scope` for a part. Where any names a
 * dimension, those that none names are closed; permissions of other names are the adapter's business.
 */
function profileAuthority(profile: SourceInput['profile']): Sources {
  const authority: Partial<Record<PhaseDimension, string[]>> = {};
  for (const permission of profile?.restrictions.permissions ?? []) {
    const colon = permission.indexOf(':');
    const dimension = phaseDimension.safeParse(colon < 0 ? permission : permission.slice(0, colon)).data;
    if (dimension === undefined) {
      continue;
    }
    const scope = colon < 0 ? everything : permission.slice(colon + 1);
    authority[dimension] = [...(authority[dimension] ?? []), scope];
  }
  return Object.keys(authority).length === 0 ? {} : { 'agent-profile': scoped(authority, []) };
}

/** What the tools of a profile allow: without servers no outside action, without tools no command. */
function catalogAuthority(profile: SourceInput['profile']): Sources {
  const { tools, mcpServers } = profile?.restrictions ?? {};
  const none = tools?.allowed?.length === 0;
  if (!none && mcpServers?.length !== 0) {
    return {};
  }
  return {
    'tool-catalog': scoped({ 'external.action': [], ...(none ? { 'command.execute': [] } : {}) }, [everything]),
  };
}

/** What the policy of a task allows. The paths it may write are checked when the run has ended. */
function policyAuthority(allowed: SourceInput['allowedSideEffects']): Sources {
  if (!allowed) {
    return {};
  }
  const scopes = (kind: AllowedSideEffect['kind']) =>
    allowed.filter((effect) => effect.kind === kind).map(({ scope }) => scope);
  const has = (kind: AllowedSideEffect['kind']) => scopes(kind).length > 0;
  return {
    'launch-policy': scoped(
      {
        'network.egress': scopes('network-egress'),
        ...(has('filesystem-write') ? {} : { 'filesystem.write': [], 'artifact.plan.write': [] }),
        ...(has('process-execute') ? {} : { 'command.execute': [] }),
        ...(has('external-write') ? {} : { 'external.action': ['read'] }),
      },
      [everything],
    ),
  };
}
