import { z } from 'zod';
import { slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { capabilityId } from './profile';

/** A path relative to the worktree, or an absolute one; never one that climbs. */
const path = text(1024, 1).refine((value) => !value.split('/').includes('..'), 'must not contain ..');
const paths = z.array(path).max(128);

/** A host name or `*.domain`, with an optional port. */
const host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/, 'must be a host name, or *.domain');

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
};

/** What a run may reach (specification 2, Sandbox preset). */
export const sandboxPreset = z
  .object({ id: slug, ...fields, revision: z.number().int(), createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'SandboxPreset' });
export type SandboxPreset = z.infer<typeof sandboxPreset>;

export const sandboxPresetUpdate = z.strictObject(fields).meta({ id: 'SandboxPresetUpdate' });
export type SandboxPresetUpdate = z.infer<typeof sandboxPresetUpdate>;

/** Without an id, one is made from the name. */
export const sandboxPresetCreate = z
  .strictObject({ id: slug.optional(), ...fields })
  .meta({ id: 'SandboxPresetCreate' });
export type SandboxPresetCreate = z.infer<typeof sandboxPresetCreate>;

export const sandboxPresetList = z
  .object({ presets: z.array(sandboxPreset), nextCursor })
  .meta({ id: 'SandboxPresetList' });
