import type { AgentCommand, AgentCommandType, CommandResponse } from '../contracts/runs/command';
import type { RunEventKind } from '../contracts/runs/event';
import type { ProviderRuntimeManifest } from '../contracts/runs/launch/contract';
import { compact } from '../platform/json/compact';

/** The capability each command rests on. */
export const commandCapability: Readonly<Record<AgentCommandType, string>> = {
  message: 'run.steer',
  steer: 'run.steer',
  interrupt: 'run.interrupt',
  compact: 'run.compact',
  archive: 'run.archive',
  close: 'run.close',
};

/** What a delivered command is recorded as. */
const kinds: Readonly<Record<AgentCommandType, RunEventKind>> = {
  message: 'message.operator',
  steer: 'conversation.steered',
  interrupt: 'conversation.interrupted',
  compact: 'conversation.compacted',
  archive: 'conversation.archived',
  close: 'conversation.closed',
};

/** Evidence for an action that a provider does not support (specification 2, "unsupported control"). */
export interface CapabilityEvidence {
  action: string;
  capabilityId: string;
  state: 'supported' | 'advisory' | 'unsupported' | 'unknown';
  reason: string;
  remediation: string;
}

/** Whether an action may be requested of the provider, by the manifest the attempt was launched with. */
export function capabilityEvidence(
  manifest: ProviderRuntimeManifest | undefined,
  action: string,
  capabilityId: string,
): CapabilityEvidence & { usable: boolean } {
  const capability = manifest?.capabilities.find(({ id }) => id === capabilityId);
  const state = capability?.state ?? 'unknown';
  const usable = state === 'supported' || state === 'advisory';
  return {
    action,
    capabilityId,
    state,
    usable,
    reason:
      capability?.reason ??
      (usable
        ? 'The provider supports it.'
        : manifest
          ? `The ${manifest.provider} provider does not support ${capabilityId}.`
          : 'The run has no runtime manifest.'),
    remediation: usable ? '' : 'Read the controls of GET /api/agents/:taskId/status for what this run supports.',
  };
}

/** The commands a run of this provider takes. A message that cannot be delivered to it is still recorded. */
export const usableCommands = (manifest: ProviderRuntimeManifest | undefined): AgentCommandType[] =>
  (Object.keys(commandCapability) as AgentCommandType[]).filter(
    (type) => type === 'message' || capabilityEvidence(manifest, type, commandCapability[type]).usable,
  );

/** The event of a command with an outcome; none for one that is not a message and was not delivered. */
export function commandEvent(
  { action, commandId, delivered, reason }: CommandResponse,
  { message, actor, sentBy }: { message?: string; actor: string; sentBy: string },
): { kind: RunEventKind; payload: Record<string, unknown>; dedupeKey: string } | undefined {
  if (!delivered && action !== 'message') {
    return undefined;
  }
  return {
    kind: kinds[action],
    payload: {
      commandId,
      ...compact({ message }),
      actor,
      sentBy,
      delivered,
      ...compact({ reason }),
    },
    dedupeKey: `command-${commandId}`,
  };
}

/** The command as the agent receives it. */
export const agentCommand = (type: AgentCommandType, message: string | undefined): AgentCommand =>
  type === 'message' || type === 'steer' ? { type, message: message ?? '' } : { type };
