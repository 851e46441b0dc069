import { z } from 'zod';
import { slug, text } from '../common';
import { environmentKey, namedToolServers, toolServer } from './tool-server';

/** Provider families this release can execute. */
export const agentProvider = z.enum(['process', 'acp', 'remote-callback']);
export type ProviderFamily = z.infer<typeof agentProvider>;

/** The families whose agents are started here, without a shell: they need a `command`. */
const started: readonly ProviderFamily[] = ['process', 'acp'];

/** What only the Agent Client Protocol has. */
const acpOnly = ['permissions', 'mode', 'authMethod', 'handshakeSeconds', 'mcpServers'] as const;

/** What an operator can vouch for: confinement, and nothing an agent does by itself. */
export const vouchedCapability = z.enum([
  'filesystem.deny-paths',
  'filesystem.descendants',
  'network.disable',
  'network.allowlist',
  'credential.broker',
  'tool.calls',
  'tool.mcp',
]);

/** The longest that an agent may take to respond to its handshake, in seconds: the steps of a launch wait that long. */
export const longestHandshakeSeconds = 540;

/** One configured agent. */
export const agentConfig = z
  .strictObject({
    type: slug,
    name: text(100, 1),
    provider: agentProvider,
    command: text(4096, 1).optional(),
    args: z.array(text(8192)).max(64).default([]),
    environmentKeys: z.array(environmentKey).max(64).default([]),
    enabled: z.boolean().default(true),
    /** The model of an `acp` agent's sessions, where it offers models; otherwise a label for reports. */
    model: text(200, 1).optional(),
    /** The mode of an `acp` agent's sessions: one that it offers. */
    mode: text(200, 1).optional(),
    /** The method with which an `acp` agent is authenticated before its session: one that its handshake names. */
    authMethod: text(200, 1).optional(),
    /** How long an `acp` agent may take to respond to its handshake: 15 seconds when absent. */
    handshakeSeconds: z.number().int().min(1).max(longestHandshakeSeconds).optional(),
    /** Tool servers that an `acp` agent is given with each session, as far as the profile of the launch allows them. */
    mcpServers: z.array(toolServer).max(32).optional(),
    /** Tool servers of the board whose tools its runs may call, by the ids of their definitions. */
    toolServers: namedToolServers.optional(),
    /** How an `acp` agent's permission requests are decided; by people (`ask`) when absent. */
    permissions: z.enum(['reject', 'allow', 'ask']).optional(),
    /** Capabilities the operator vouches for: the command runs the agent inside something that enforces them. */
    hostEnforced: z.array(vouchedCapability).max(16).optional(),
    /** Arguments with which a `process` agent prints its version, such as `--version`; `acp` agents report it by themselves. */
    versionArgs: z.array(text(8192)).min(1).max(64).optional(),
    /** Whether a `process` agent outlives its worker, and the next worker of its host adopts it. */
    reattach: z.boolean().optional(),
    /** Arguments that make it ignore instructions, configuration and tools of a workspace that is not trusted. */
    untrustedArgs: z.array(text(8192)).max(64).optional(),
    /** Whether it gets a handle of its attempt, with which it launches children. */
    launchesChildren: z.boolean().optional(),
  })
  .refine((agent) => !started.includes(agent.provider) || agent.command !== undefined, {
    path: ['command'],
    message: 'a process or acp agent requires a command',
  })
  .refine((agent) => agent.untrustedArgs === undefined || started.includes(agent.provider), {
    path: ['untrustedArgs'],
    message: 'is allowed only for process and acp agents',
  })
  .refine((agent) => agent.launchesChildren !== true || started.includes(agent.provider), {
    path: ['launchesChildren'],
    message: 'is allowed only for agents that a host starts',
  })
  .refine((agent) => agent.toolServers === undefined || started.includes(agent.provider), {
    path: ['toolServers'],
    message: 'is allowed only for agents that a host starts',
  })
  .refine((agent) => agent.versionArgs === undefined || agent.provider === 'process', {
    path: ['versionArgs'],
    message: 'is allowed only for process agents',
  })
  .refine((agent) => agent.reattach !== true || agent.provider === 'process', {
    path: ['reattach'],
    message: 'is allowed only for process agents',
  })
  .superRefine((agent, context) => {
    for (const field of acpOnly.filter((name) => agent.provider !== 'acp' && agent[name] !== undefined)) {
      context.addIssue({ code: 'custom', path: [field], message: 'is allowed only for acp agents' });
    }
    const names = agent.mcpServers?.map(({ name }) => name) ?? [];
    if (new Set(names).size < names.length) {
      context.addIssue({ code: 'custom', path: ['mcpServers'], message: 'two tool servers have the same name' });
    }
  })
  .meta({ id: 'AgentConfig' });
export type AgentConfig = z.infer<typeof agentConfig>;

/** How many agents may be configured. */
export const maxAgents = 100;

export const agentConfigList = z
  .strictObject({ agents: z.array(agentConfig).max(maxAgents) })
  .refine(({ agents }) => new Set(agents.map((agent) => agent.type)).size === agents.length, {
    path: ['agents'],
    message: 'two agents have the same type',
  })
  .meta({ id: 'AgentConfigList' });

export const defaultAgent = z.strictObject({ agent: slug.nullable() }).meta({ id: 'DefaultAgent' });

export const agentConfigResponse = z
  .object({ agents: z.array(agentConfig), defaultAgent: slug.nullable(), revision: z.number().int() })
  .meta({ id: 'AgentConfigAnswer' });
