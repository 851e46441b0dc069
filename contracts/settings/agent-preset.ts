import { z } from 'zod';
import { revision, slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { agentConfig } from './agent-config';
import { environmentKey } from './tool-server';

export const presetId = z.enum(['gemini', 'claude', 'codex', 'opencode', 'goose', 'acp']);
export type PresetId = z.infer<typeof presetId>;

/** How an agent is given its credential: by a variable, which a method of the protocol may read, or by a login of its own. */
export const presetAuthentication = z.object({
  id: z.enum(['key', 'login', 'none']),
  description: z.string(),
  /** One of these variables is enough. */
  environmentKeys: z.array(z.string()),
  /** Variables that it needs besides, which are no credentials. */
  settingKeys: z.array(z.string()),
  /** The `authMethod` that goes with it; none where the agent reads its credential by itself. */
  authMethod: z.string().nullable(),
});

/** A package of the npm registry in a version that was tested. */
export const presetPackage = z.object({
  name: z.string(),
  version: z.string(),
  /** The oldest Node that runs this version. */
  node: z.number().int(),
});

/** An agent of today, by name, as it is configured. */
export const agentPreset = z.object({
  id: presetId,
  name: z.string(),
  description: z.string(),
  /** An installed program; `null` where the request names it. */
  command: z.string().nullable(),
  args: z.array(z.string()),
  /** Versions for `npx`, the first that the host's Node runs counts; empty where there is none. */
  packages: z.array(presetPackage),
  authentication: z.array(presetAuthentication),
  /** Its own login, on each host and as the user that agents run as. */
  login: z.string().nullable(),
  /** What one has to know, as sentences. */
  requirements: z.array(z.string()),
  /** By a conversation recorded with the package, one written from its documentation, or the protocol alone. */
  tested: z.enum(['package', 'transcript', 'protocol']),
});
export type AgentPreset = z.infer<typeof agentPreset>;

/** What a host has for a preset: found without starting a program. */
export const presetDetection = z.object({
  hostId: z.string(),
  /** The major version of the worker's Node. */
  node: z.number().int(),
  /** Where the program was found; `null` when it is not on the worker's PATH. */
  path: z.string().nullable(),
  /** Whether `npx` is on the worker's PATH. */
  npx: z.boolean(),
  /** Names of the preset's variables that the worker has. */
  environmentKeys: z.array(z.string()),
  /** Whether a login of its own has left its file; `null` where none is to be looked for, or it cannot be seen. */
  login: z.boolean().nullable(),
  checkedAt: timestamp,
});
export type PresetDetection = z.infer<typeof presetDetection>;

/** What a worker announces of its host. */
export interface AnnouncedPresets extends Pick<PresetDetection, 'node' | 'npx' | 'checkedAt'> {
  presets: (Pick<PresetDetection, 'path' | 'environmentKeys' | 'login'> & { id: PresetId })[];
}

export const agentPresetList = z
  .object({ presets: z.array(agentPreset.extend({ hosts: z.array(presetDetection) })), nextCursor })
  .meta({ id: 'AgentPresetList' });

/** What a configured agent is made of; everything but the preset is optional. */
export const agentFromPreset = z
  .strictObject({
    preset: presetId,
    type: slug.optional(),
    name: agentConfig.shape.name.optional(),
    /** `program`: what is installed; `package`: `npx` fetches it when it is first started. */
    run: z.enum(['program', 'package']).optional(),
    authentication: presetAuthentication.shape.id.optional(),
    /** Instead of the program of the preset. */
    command: text(4096, 1).optional(),
    args: agentConfig.shape.args.unwrap().optional(),
    environmentKeys: z.array(environmentKey).max(64).optional(),
    authMethod: agentConfig.shape.authMethod,
    handshakeSeconds: agentConfig.shape.handshakeSeconds,
    model: agentConfig.shape.model,
    mode: agentConfig.shape.mode,
    mcpServers: agentConfig.shape.mcpServers,
    permissions: agentConfig.shape.permissions,
  })
  .refine(({ preset, command }) => preset !== 'acp' || command !== undefined, {
    path: ['command'],
    message: 'the preset acp requires a command',
  })
  .meta({ id: 'AgentFromPreset' });
export type AgentFromPreset = z.infer<typeof agentFromPreset>;

/** The configured agent, the revision of the list, and what is left to do. */
export const agentFromPresetResponse = z
  .object({ agent: agentConfig, revision, requirements: z.array(z.string()) })
  .meta({ id: 'AgentFromPresetResponse' });
