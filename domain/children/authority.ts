import type { CommitPolicy } from '../../contracts/common';
import type { Refusal } from '../../contracts/refusal';
import type { LaunchRequest } from '../../contracts/runs/launch/launch';
import type { Profile } from '../../contracts/settings/profile';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { refusal } from '../refusal';
import { widenedByPreset } from './preset';
import { isRestricted, widenedByProfile } from './profile';

/** What a child may not exceed of the attempt it descends from, as that attempt was admitted. */
export interface ParentAuthority {
  attemptId: string;
  profile: Profile | null;
  sandbox: SandboxPreset | null;
  commitPolicy: CommitPolicy;
}

/** What a launch names, before its parent is considered. */
export interface NamedAuthority {
  request: LaunchRequest;
  profile: Profile | undefined;
  sandbox: SandboxPreset | undefined;
}

/** Which of its options a child has from its parent attempt. */
export interface Inherited {
  attemptId: string;
  fields: ('profile' | 'sandbox' | 'commitPolicy')[];
}

/** What a child runs with; `problem` when it requests more than its parent has. */
export interface ChildAuthority extends NamedAuthority {
  inherited: Inherited;
  problem?: Refusal;
}

/**
 * The authority of a child: its parent's preset and restricted profile, as they were when the parent was admitted, unless
 * it names others that allow no more. What limits the phase is compiled from the parent's evidence (`phases/launch.ts`).
 */
export function childAuthority(parent: ParentAuthority, requestedRecord: NamedAuthority): ChildAuthority {
  const { attemptId, sandbox: preset, commitPolicy } = parent;
  const restricted = isRestricted(parent.profile) ? parent.profile : undefined;
  const forbidden = commitPolicy === 'forbidden';
  const { request } = requestedRecord;
  const profile = inherit(restricted, request.profileId, requestedRecord.profile);
  const sandbox = inherit(preset ?? undefined, request.sandboxPresetId, requestedRecord.sandbox);
  const fields: Inherited['fields'] = [
    ...(restricted && profile === restricted ? (['profile'] as const) : []),
    ...(preset && sandbox === preset ? (['sandbox'] as const) : []),
    ...(forbidden && request.commitPolicy === undefined ? (['commitPolicy'] as const) : []),
  ];
  const wider = [
    ...(restricted && profile ? widenedByProfile(restricted, profile) : []),
    ...(restricted &&
    request.profileId === undefined &&
    request.agent !== undefined &&
    request.agent !== restricted.agent
      ? ['agent']
      : []),
    ...(preset && sandbox ? widenedByPreset(preset, sandbox) : []),
    ...(forbidden && request.commitPolicy !== undefined && request.commitPolicy !== 'forbidden'
      ? ['commitPolicy']
      : []),
  ];
  return {
    request: forbidden ? { ...request, commitPolicy: request.commitPolicy ?? 'forbidden' } : request,
    profile,
    sandbox,
    inherited: { attemptId, fields },
    ...(wider.length > 0 ? { problem: widened(attemptId, wider) } : {}),
  };
}

/** The parent's own, unless another one is named. */
const inherit = <T extends { id: string }>(
  parent: T | undefined,
  requested: string | undefined,
  requestedRecord: T | undefined,
): T | undefined => (parent && (requested === undefined || requested === parent.id) ? parent : requestedRecord);

/** Whether a launch runs under its parent's profile, which then selects the agent. */
export const inheritsProfile = ({ profile }: ParentAuthority, { profileId }: LaunchRequest): boolean =>
  isRestricted(profile) && (profileId === undefined || profileId === profile.id);

const widened = (parentAttemptId: string, fields: string[]): Refusal =>
  refusal(
    'CHILD_AUTHORITY_WIDENED',
    `The child would have more authority than its parent attempt: ${fields.join(', ')}. Choose values that allow no more, or omit them.`,
    { parentAttemptId, fields },
  );
