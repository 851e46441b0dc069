import { z } from 'zod';
import { attemptId, commitPolicy, digest, objectName, phase, slug, taskId, timestamp } from '../../common';
import { executionPolicy, sideEffectKind } from '../../tasks/task';
import type { Continuation } from '../completion';
import type { ConversationEdge, ConversationSource } from '../conversation';
import { phaseDimension } from '../phase';
import { hostSandbox } from './host-sandbox';

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
    providerBuild: z.string().optional(),
    models: z.array(z.string()),
    capabilities: z.array(capability),
    probe: z.object({
      state: z.enum(['ready', 'degraded', 'failed']),
      probedAt: timestamp,
      source: z.string(),
      diagnostics: z.array(z.string()),
    }),
    /** What this host confines runs of it to that have a sandbox preset; absent where it confines none. */
    sandbox: hostSandbox.optional(),
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

/**
 * One kind of effect a run may have, and where. The scope of `filesystem-write` is a path in the worktree, `.` being all
 * of it; for other kinds `*` is everything.
 */
export const allowedSideEffect = z.object({ kind: sideEffectKind, scope: z.string() });
export type AllowedSideEffect = z.infer<typeof allowedSideEffect>;

/** A verification that the task requires; agents report on it by its id. */
export const envelopeGate = z.object({
  id: z.string(),
  kind: z.enum(['verification-step', 'acceptance-criterion']),
  description: z.string(),
  /** Of a verification step that was not checked at the launch: without a report that it passed the task is not done. */
  required: z.literal(true).optional(),
});

const envelopeCore = z.object({
  schemaVersion: z.literal('task-envelope/v1'),
  taskId,
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
  allowedSideEffects: z.array(allowedSideEffect),
  expectedOutputs: executionPolicy.shape.expectedOutputs.unwrap(),
  /** Set where a run may succeed that changed nothing and reported nothing. */
  allowEmptyResult: z.literal(true).optional(),
  digest,
});

const envelopeSections = z.object({
  /** What else of the task an agent should know, each text bounded. */
  context: z.object({
    type: z.string(),
    priority: z.string(),
    project: z.string().nullable(),
    sprint: z.string().nullable(),
    plan: z.string(),
  }),
  policy: z.object({
    tools: z.object({ allowed: z.array(z.string()).nullable(), denied: z.array(z.string()) }),
    mcpServers: z.array(z.string()).nullable(),
    permissions: z.array(z.string()).nullable(),
    sandboxPreset: slug.nullable(),
    /** What the run may do in its phase: scopes, and those of them that need an approval. Absent without a phase. */
    authority: z
      .record(phaseDimension, z.object({ scopes: z.array(z.string()), approval: z.array(z.string()) }))
      .optional(),
  }),
  gates: z.array(envelopeGate),
});

/**
 * The objective of a run, its initial state and its policy: immutable once stored. It names no attempt, so that a preview and
 * the start it previews have the same one; the attempt's record and the transport bind it.
 */
export const taskEnvelope = z.object({ ...envelopeCore.shape, ...envelopeSections.shape }).meta({ id: 'TaskEnvelope' });
export type TaskEnvelope = z.infer<typeof taskEnvelope>;

/** An envelope as records may have it: early ones name their attempt and lack the later sections. */
export const recordedTaskEnvelope = z
  .object({ ...envelopeCore.shape, ...envelopeSections.partial().shape, attemptId: attemptId.optional() })
  .meta({ id: 'RecordedTaskEnvelope' });
export type RecordedTaskEnvelope = z.infer<typeof recordedTaskEnvelope>;

/** A text passed to an agent beside its envelope, with its source. */
export interface TransportSection {
  id: 'workspace-trust' | 'profile-instructions' | 'tool-servers' | 'checkpoint' | 'conversation-message';
  title: string;
  /** The author of the text: `profile:<id>`, `task:<id>`, `workspace-trust:<digest>`, `tool-catalog:<digest>`, an actor. */
  source: string;
  /** Up to 20,000 characters. */
  text: string;
}

/** The document passed to an agent: the envelope as its adapter renders it. */
export interface TaskEnvelopeTransport {
  schemaVersion: 'provider-task-envelope-transport/v1';
  attemptId: string;
  taskId: string;
  adapter: string;
  envelope: RecordedTaskEnvelope;
  sections: TransportSection[];
  /** The session of an earlier attempt that this one continues. */
  conversation?: TransportConversation;
  digest: string;
}

export interface TransportConversation extends Omit<ConversationSource, 'edge' | 'sourceAttemptId'> {
  edge: ConversationEdge;
  sourceAttemptId: string;
  continuation: Continuation;
}
