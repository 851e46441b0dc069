import { z } from 'zod';
import { digest, slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { capabilityState } from '../runs/launch/contract';
import { agentProvider } from './agent-config';
import { capabilityId } from './profile';

/** A path relative to the worktree, or an absolute one; never one that climbs. */
const path = text(1024, 1).refine((value) => !value.split('/').includes('..'), 'must not contain ..');
const paths = z.array(path).max(128);

/** A host name or `*.domain`, with an optional port. */
const host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/, 'must be a host name, or *.domain')
  .refine((value) => Number(/:(\d+)$/.exec(value)?.[1] ?? 1) <= 65_535, 'must have a port up to 65535');

/** Names only: a `NAME=value` would be a credential in a record. */
const environmentName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable');

const filesystem = z.strictObject({
  readPaths: paths.default([]),
  writePaths: paths.default([]),
  deniedPaths: paths.default([]),
  dotfileMasking: z.boolean().default(false),
  localOnlyHandles: z.boolean().default(false),
});

const network = z.strictObject({
  defaultEgress: z.enum(['allow', 'deny']).default('allow'),
  allowedHosts: z.array(host).max(128).default([]),
  allowedMethods: z
    .array(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']))
    .max(7)
    .default([]),
  allowedPathPrefixes: z
    .array(text(500, 1).refine((value) => value.startsWith('/'), 'must begin with /'))
    .max(128)
    .default([]),
  blockPrivateNetwork: z.boolean().default(false),
  blockMetadataEndpoints: z.boolean().default(false),
  blockLoopback: z.boolean().default(false),
});

const environment = z.strictObject({
  /** When it is set, the agent gets these of its `environmentKeys` and no others. */
  passthrough: z.array(environmentName).max(128).optional(),
  redactDisplay: z.boolean().default(true),
});

const credentials = z.strictObject({
  mode: z.enum(['none', 'environment', 'broker']).default('none'),
  /** Names of broker scopes; never credentials. */
  brokerRefs: z.array(slug).max(64).default([]),
});

/** The most that the processes of a run may use together, or each of them where its host can only limit each. */
const resources = z.strictObject({
  memoryMb: z.number().int().min(64).max(1_048_576).optional(),
  processes: z.number().int().min(16).max(100_000).optional(),
});

const fields = {
  name: text(100, 1),
  enabled: z.boolean().default(true),
  /** Whether a control that an agent's adapter cannot enforce blocks its launch, or only warns. */
  enforcement: z.enum(['required', 'advisory']).default('required'),
  requiredCapabilities: z.array(capabilityId).max(64).default([]),
  filesystem: filesystem.default(filesystem.parse({})),
  network: network.default(network.parse({})),
  environment: environment.default(environment.parse({})),
  credentials: credentials.default(credentials.parse({})),
  resources: resources.optional(),
};

/** What a run may reach (specification 2, Sandbox preset). */
export const sandboxPreset = z
  .object({ id: slug, ...fields, revision: z.number().int(), createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'SandboxPreset' });
export type SandboxPreset = z.infer<typeof sandboxPreset>;

/** A list of hosts restricts nothing while everything else may be reached too. */
const meansSomething = ({ network: { defaultEgress, allowedHosts } }: { network: z.infer<typeof network> }): boolean =>
  defaultEgress === 'deny' || allowedHosts.length === 0;
const meaningless = { path: ['network', 'allowedHosts'], message: 'is allowed only with defaultEgress deny' };

export const sandboxPresetUpdate = z
  .strictObject(fields)
  .refine(meansSomething, meaningless)
  .meta({ id: 'SandboxPresetUpdate' });
export type SandboxPresetUpdate = z.infer<typeof sandboxPresetUpdate>;

/** Without an id, one is made from the name. */
export const sandboxPresetCreate = z
  .strictObject({ id: slug.optional(), ...fields })
  .refine(meansSomething, meaningless)
  .meta({ id: 'SandboxPresetCreate' });
export type SandboxPresetCreate = z.infer<typeof sandboxPresetCreate>;

export const sandboxPresetList = z
  .object({ presets: z.array(sandboxPreset), nextCursor })
  .meta({ id: 'SandboxPresetList' });

/** A question about a preset (specification 2, Policies and governance). */
export const sandboxQuestion = z
  .strictObject({
    presetId: slug,
    provider: agentProvider,
    /** A manifest of what hosts have probed or agents have registered; the most capable one of the provider when absent. */
    providerRuntimeManifestDigest: digest.optional(),
    /** The worktree that paths of the preset are compared with. */
    workspacePath: text(4096, 1)
      .refine((path) => path.startsWith('/') && !path.split('/').includes('..'), 'must be absolute, without ..')
      .optional(),
    requiredCapabilities: z.array(capabilityId).max(64).default([]),
  })
  .meta({ id: 'SandboxQuestion' });
export type SandboxQuestion = z.infer<typeof sandboxQuestion>;

/** A rule of a preset that is not enforced, or not reliably. */
const sandboxRule = z.object({
  rule: z.string(),
  capabilityId: z.string(),
  state: capabilityState,
  message: z.string(),
});
export type SandboxRule = z.infer<typeof sandboxRule>;

export const sandboxVerdict = z
  .object({
    decision: z.enum(['allow', 'warn', 'block']),
    provider: agentProvider,
    /** The manifest that was judged by. */
    providerRuntimeManifestDigest: digest,
    effective: z.object({
      /** What the run could write: `selected-paths` with `writePaths`; `unconfined` where nothing confines it. */
      sandboxMode: z.enum(['unconfined', 'workspace-write', 'selected-paths']),
      networkAccessEnabled: z.boolean(),
      /** Names of variables; null for all that the agent's configuration names. */
      envPassthrough: z.array(z.string()).nullable(),
      credentialRefs: z.array(z.string()),
    }),
    unsupportedRules: z.array(sandboxRule),
    warnings: z.array(sandboxRule),
    traceId: z.string(),
  })
  .meta({ id: 'SandboxVerdict' });
export type SandboxVerdict = z.infer<typeof sandboxVerdict>;
