import { z } from 'zod';
import { slug, text } from '../common';
import { withheldBecause } from './withheld-variables';

/** Provider families this release can execute. */
export const agentProvider = z.enum(['process', 'acp', 'remote-callback']);
export type ProviderFamily = z.infer<typeof agentProvider>;

/** Names of environment variables passed to an agent besides its own `BOARD_*` ones; values are never stored. */
const environmentKey = z
  .string()
  .max(128)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .superRefine((name, context) => {
    const reason = withheldBecause(name);
    if (reason !== undefined) {
      context.addIssue({ code: 'custom', message: `${name} ${reason}; agents are not given it` });
    }
  });

/** The families whose agents are started here, without a shell: they need a `command`. */
const started: readonly ProviderFamily[] = ['process', 'acp'];

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
    model: text(200, 1).optional(),
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
  .refine((agent) => agent.versionArgs === undefined || agent.provider === 'process', {
    path: ['versionArgs'],
    message: 'is allowed only for process agents',
  })
  .refine((agent) => agent.reattach !== true || agent.provider === 'process', {
    path: ['reattach'],
    message: 'is allowed only for process agents',
  })
  .refine((agent) => agent.permissions === undefined || agent.provider === 'acp', {
    path: ['permissions'],
    message: 'is allowed only for acp agents',
  })
  .meta({ id: 'AgentConfig' });
export type AgentConfig = z.infer<typeof agentConfig>;

export const agentConfigList = z
  .strictObject({ agents: z.array(agentConfig).max(100) })
  .refine(({ agents }) => new Set(agents.map((agent) => agent.type)).size === agents.length, {
    path: ['agents'],
    message: 'two agents have the same type',
  })
  .meta({ id: 'AgentConfigList' });

export const defaultAgent = z.strictObject({ agent: slug.nullable() }).meta({ id: 'DefaultAgent' });

export const agentConfigResponse = z
  .object({ agents: z.array(agentConfig), defaultAgent: slug.nullable(), revision: z.number().int() })
  .meta({ id: 'AgentConfigAnswer' });
