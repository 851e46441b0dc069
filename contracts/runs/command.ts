import { z } from 'zod';
import { attemptId, digest, replayed, text } from '../common';

/** The commands for an active run. */
export const agentCommandType = z.enum(['message', 'steer', 'interrupt', 'compact', 'archive', 'close']);
export type AgentCommandType = z.infer<typeof agentCommandType>;

/** A command as an agent receives it. `steer` is to be heeded now, `message` when it suits the agent. */
export type AgentCommand =
  { type: 'message' | 'steer'; message: string } | { type: 'interrupt' | 'compact' | 'archive' | 'close' };

/** The attempt a command is for, exactly; digests that are present are compared with those of its launch. */
export const commandTarget = z
  .strictObject({
    attemptId,
    providerRuntimeManifestDigest: digest.optional(),
    runLaunchManifestDigest: digest.optional(),
  })
  .meta({ id: 'RunCommandTarget' });

export const messageRequest = commandTarget
  .extend({ message: text(4_000, 1), actor: text(200, 1).optional() })
  .meta({ id: 'RunMessage' });

export const steerRequest = commandTarget.extend({ message: text(20_000, 1) }).meta({ id: 'RunSteer' });

/** What became of a command; also of one that was only recorded. */
export const commandResponse = z
  .object({
    attemptId,
    commandId: z.string(),
    action: agentCommandType,
    delivered: z.boolean(),
    reason: z.string().optional(),
    replayed,
  })
  .meta({ id: 'RunCommandAnswer' });
export type CommandResponse = z.infer<typeof commandResponse>;
