import { z } from 'zod';
import { attemptId, commitPolicy, digest, objectName, phase, slug, taskId, timestamp } from './common';
import { executionPolicy } from './task';

export const capabilityState = z.enum(['supported', 'advisory', 'unsupported', 'unknown']);

export const capability = z.object({
  id: z.string(),
  state: capabilityState,
  source: z.enum(['runtime-probe', 'contract-test', 'host-enforced']),
  reason: z.string().optional(),
});

/** What a provider on this host can do, by probing it (specification 2, Provider runtime manifest). */
export const providerRuntimeManifest = z
  .object({
    schemaVersion: z.literal('provider-runtime-manifest/v1'),
    probeRevision: z.number().int(),
    provider: z.string(),
    adapter: z.string(),
    protocolVersion: z.string(),
    providerVersion: z.string().optional(),
    models: z.array(z.string()),
    capabilities: z.array(capability),
    probe: z.object({
      state: z.enum(['ready', 'degraded', 'failed']),
      probedAt: timestamp,
      source: z.string(),
      diagnostics: z.array(z.string()),
    }),
    digest,
  })
  .meta({ id: 'ProviderRuntimeManifest' });
export type ProviderRuntimeManifest = z.infer<typeof providerRuntimeManifest>;

/** One entry of a worktree that differed from HEAD when the attempt began. */
export const baselineFile = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'untracked']),
  indexBlobHash: objectName.optional(),
  worktreeSha256: z.string().optional(),
});

export const workspaceBaseline = z.object({
  headSha: objectName,
  dirty: z.boolean(),
  files: z.array(baselineFile),
});

/** What a run is asked to do, from what state, under which policy: immutable once stored. */
export const taskEnvelope = z
  .object({
    schemaVersion: z.literal('task-envelope/v1'),
    taskId,
    attemptId,
    objective: z.object({
      title: z.string(),
      description: z.string(),
      subtasks: z.array(z.object({ id: z.string(), title: z.string(), completed: z.boolean() })),
    }),
    phase,
    commitPolicy,
    workspace: z
      .object({ repository: slug, path: z.string(), branch: z.string(), baseline: workspaceBaseline })
      .nullable(),
    allowedSideEffects: executionPolicy.shape.allowedSideEffects.unwrap(),
    expectedOutputs: executionPolicy.shape.expectedOutputs.unwrap(),
    digest,
  })
  .meta({ id: 'TaskEnvelope' });
export type TaskEnvelope = z.infer<typeof taskEnvelope>;

/** Where the value of one field of a launch came from. */
export const fieldOrigin = z.object({ field: z.string(), source: z.string() });

/** The immutable launch contract of one attempt. */
export const runLaunchManifest = z
  .object({
    schemaVersion: z.literal('run-launch-manifest/v1'),
    taskId,
    attemptId,
    providerRuntime: z.object({ digest, provider: z.string(), probeRevision: z.number().int() }),
    taskEnvelope: z.object({ digest }),
    routing: z.object({ requestedAgent: slug.nullable(), selectedAgent: slug, reason: z.string() }),
    runtime: z.object({
      command: z.string().nullable(),
      args: z.array(z.string()),
      model: z.string().nullable(),
      environmentKeys: z.array(z.string()),
    }),
    instructions: z.array(z.object({ id: z.string(), kind: z.string(), digest, byteLength: z.number().int() })),
    phase: z.object({ phase, evidence: z.literal('legacy') }),
    origins: z.array(fieldOrigin),
    enforcement: z.object({
      enforceable: z.boolean(),
      blockers: z.array(z.object({ code: z.string(), message: z.string() })),
      warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    }),
    digest,
  })
  .meta({ id: 'RunLaunchManifest' });
export type RunLaunchManifest = z.infer<typeof runLaunchManifest>;

/** The document an agent is given: the envelope as its adapter renders it. */
export interface TaskEnvelopeTransport {
  schemaVersion: 'provider-task-envelope-transport/v1';
  attemptId: string;
  taskId: string;
  envelope: TaskEnvelope;
  sections: { id: string; title: string; source: string; text: string }[];
  digest: string;
}

export const launchPreview = z
  .object({
    manifest: runLaunchManifest.omit({ digest: true, attemptId: true }),
    dependencyCircuits: z.array(z.unknown()),
    parentAttemptId: attemptId.optional(),
  })
  .meta({ id: 'LaunchPreview' });
export type LaunchPreview = z.infer<typeof launchPreview>;
