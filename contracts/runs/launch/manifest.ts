import { z } from 'zod';
import { attemptId, commitPolicy, digest, phase, slug, taskId } from '../../common';
import { allowedSideEffect, capabilityState } from './contract';

/** What a launch lacks or what weakens it: what it is about, and what a person can do. */
export const launchFinding = z
  .object({
    code: z.string(),
    message: z.string(),
    /** The program that is missing or does not suffice, as it is configured or as it was found. */
    program: z.string().optional(),
    /** Directories of the PATH in which the program was searched, in this order. */
    searched: z.array(z.string()).optional(),
    /** The file or directory. */
    path: z.string().optional(),
    /** The variable of the worker's environment. */
    variable: z.string().optional(),
    remedy: z.string().optional(),
  })
  .meta({ id: 'LaunchFinding' });
export type LaunchFinding = z.infer<typeof launchFinding>;

/** Where a value comes from, the most specific first; `precedence` counts in this order from 1. */
export const originScope = z.enum(['run', 'task', 'profile', 'sandbox', 'agent', 'settings', 'default']);
export type OriginScope = z.infer<typeof originScope>;

/** Where the value of one field of a launch came from. */
export const fieldOrigin = z.object({
  field: z.string(),
  scope: originScope,
  source: z.string(),
  precedence: z.number().int(),
});
export type FieldOrigin = z.infer<typeof fieldOrigin>;

/** A text passed to the agent, by its fingerprint: the text itself is in no manifest. */
const instruction = z.object({
  id: z.string(),
  kind: z.enum(['task', 'profile', 'checkpoint', 'conversation', 'policy']),
  digest,
  byteLength: z.number().int(),
  origin: z.string(),
  precedence: z.number().int(),
});

const requirement = z.object({ id: z.string(), state: capabilityState, required: z.boolean() });

const sections = z.object({
  taskEnvelope: z.object({ digest }),
  providerRuntime: z.object({ digest, provider: z.string(), probeRevision: z.number().int() }),
  harness: z.object({ adapter: z.string(), protocolVersion: z.string(), providerVersion: z.string().nullable() }),
  requirements: z.object({ capabilities: z.array(requirement) }),
  routing: z.object({
    requestedAgent: slug.nullable(),
    selectedAgent: slug,
    selectedHost: z.string().nullable(),
    reason: z.string(),
    fallbackAgent: slug.nullable(),
    fallbackAllowed: z.boolean(),
    maxRetries: z.number().int(),
  }),
  profile: z.object({ id: slug, revision: z.number().int(), digest }).nullable(),
  readiness: z.object({
    ready: z.boolean(),
    overridden: z.literal(false),
    passed: z.number().int(),
    total: z.number().int(),
    missingRequired: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
  instructions: z.array(instruction),
  runtime: z.object({
    model: z.string().nullable(),
    mode: z.string().optional(),
    authMethod: z.string().optional(),
    /** Names of the tool servers that the agent is given; absent when there are none. */
    mcpServers: z.array(z.string()).optional(),
    command: z.string().nullable(),
    args: z.array(z.string()),
    workingDirectory: z.string().nullable(),
    worktree: z.boolean(),
    environmentKeys: z.array(z.string()),
    credentialReferences: z.array(z.string()),
  }),
  workspace: z
    .object({
      repository: slug,
      branch: z.string(),
      baseline: z.object({ headSha: z.string(), dirty: z.boolean(), files: z.number().int(), digest }),
    })
    .nullable(),
  tools: z.object({
    allowed: z.array(z.string()).nullable(),
    denied: z.array(z.string()),
    mcpServers: z.array(z.string()).nullable(),
    /** The tool servers that the run may call, and the digest of the catalog of their tools; absent without any. */
    catalog: z
      .object({
        digest,
        servers: z.array(
          z.object({
            serverId: slug,
            definitionDigest: digest,
            requirement: z.enum(['required', 'optional']),
            state: z.enum(['ready', 'degraded']),
            tools: z.number().int(),
          }),
        ),
      })
      .optional(),
  }),
  permissions: z.object({
    commitPolicy,
    allowed: z.array(z.string()).nullable(),
    sideEffects: z.array(allowedSideEffect),
  }),
  resources: z.object({
    timeoutMs: z.number().int(),
    outputLimitBytes: z.number().int(),
    stopGraceMs: z.number().int(),
  }),
  sandbox: z
    .object({
      presetId: slug,
      revision: z.number().int(),
      digest,
      enforcement: z.enum(['required', 'advisory']),
      controls: z.array(
        z.object({ control: z.string(), capabilityId: z.string(), state: capabilityState, enforced: z.boolean() }),
      ),
      /** What the run is confined to on its host; absent where it is not. */
      confinement: z
        .object({
          mechanism: z.literal('bubblewrap'),
          version: z.string(),
          network: z.enum(['shared', 'none', 'proxy']),
        })
        .optional(),
    })
    .nullable(),
  /** `restricted`: the agent is started so that it ignores what is not trusted. */
  workspaceTrust: z.object({
    state: z.enum(['not-evaluated', 'not-required', 'trusted', 'untrusted']),
    inventoryDigest: digest.optional(),
    decisionId: z.string().optional(),
    restricted: z.boolean().optional(),
  }),
  /** `digest` is that of the phase evidence the run begins with. */
  phase: z.object({ phase, evidence: z.enum(['legacy', 'profile']), digest: digest.optional() }),
  origins: z.array(fieldOrigin),
  enforcement: z.object({
    enforceable: z.boolean(),
    blockers: z.array(launchFinding),
    warnings: z.array(launchFinding),
  }),
});

const identity = { schemaVersion: z.literal('run-launch-manifest/v1'), taskId };

/**
 * The immutable launch contract of a run (specification 2, run launch manifest). Like the envelope it names no attempt:
 * a preview and the start it previews have the same digest.
 */
export const runLaunchManifest = z.object({ ...identity, ...sections.shape, digest }).meta({ id: 'RunLaunchManifest' });
export type RunLaunchManifest = z.infer<typeof runLaunchManifest>;

/** A manifest as records may hold it: early ones name their attempt and have fewer sections. */
export const recordedLaunchManifest = z
  .object({
    ...identity,
    ...sections.partial().shape,
    attemptId: attemptId.optional(),
    providerRuntime: sections.shape.providerRuntime,
    taskEnvelope: sections.shape.taskEnvelope,
    enforcement: sections.shape.enforcement,
    routing: sections.shape.routing.partial().required({ requestedAgent: true, selectedAgent: true, reason: true }),
    runtime: sections.shape.runtime.partial(),
    instructions: z.array(instruction.partial()),
    origins: z.array(fieldOrigin.partial()),
    digest,
  })
  .meta({ id: 'RecordedLaunchManifest' });
export type RecordedLaunchManifest = z.infer<typeof recordedLaunchManifest>;

/** One field in which a launch differs from the attempt it is compared with; values that are long are cut. */
const driftedField = z.object({ field: z.string(), parent: z.unknown().optional(), current: z.unknown().optional() });

export const launchDrift = z.object({
  parentAttemptId: attemptId,
  parentManifestDigest: digest,
  drifted: z.boolean(),
  fields: z.array(driftedField),
});
export type LaunchDrift = z.infer<typeof launchDrift>;

export const launchPreview = z
  .object({
    manifest: runLaunchManifest,
    dependencyCircuits: z.array(z.unknown()),
    /** The current findings on the host, no part of the contract: a start compiles the same manifest without it. */
    warnings: z.array(launchFinding).optional(),
    parentAttemptId: attemptId.optional(),
    drift: launchDrift.optional(),
  })
  .meta({ id: 'LaunchPreview' });
export type LaunchPreview = z.infer<typeof launchPreview>;
