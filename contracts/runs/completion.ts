import { z } from 'zod';
import { attemptId, digest, phase, text, timestamp } from '../common';
import { sideEffectKind } from '../tasks/task';
import { presentedSecret } from './callback-secret';
import { sandboxEvidence } from './launch/host-sandbox';

export const completionStatus = z.enum(['success', 'blocked', 'failed', 'interrupted', 'partial']);
export type CompletionStatus = z.infer<typeof completionStatus>;

const blocker = z.object({
  code: text(100, 1),
  summary: text(2000, 1),
  detail: text(20_000).optional(),
  retryable: z.boolean().optional(),
});

const evidence = z.object({
  id: text(100, 1),
  kind: z.enum([
    'provider-output',
    'process-exit',
    'stream-event',
    'callback',
    'verification',
    'file-change',
    'artifact',
    'commit',
    'other',
  ]),
  summary: text(2000).optional(),
  reference: text(2000).optional(),
  requirementIds: z.array(text(100)).max(64).optional(),
});

const artifact = z.object({
  id: text(100).optional(),
  kind: z.enum(['file', 'log', 'report', 'url', 'other']).optional(),
  name: text(500, 1),
  reference: text(2000, 1),
  mediaType: text(200).optional(),
  sha256: text(64).optional(),
});

const verification = z.object({
  gateId: text(100, 1),
  status: z.enum(['passed', 'failed', 'skipped', 'unknown']),
  summary: text(2000).optional(),
  evidenceIds: z.array(text(100)).max(64).optional(),
});

const continuation = z.object({
  provider: text(100, 1),
  kind: z.enum(['thread', 'session', 'run', 'other']),
  reference: text(2000, 1),
});

export type Continuation = z.infer<typeof continuation>;

/** The claims of an agent, with the limits of a callback. */
export const completionClaims = z.object({
  blockers: z.array(blocker).max(64).optional(),
  evidence: z.array(evidence).max(128).optional(),
  artifacts: z.array(artifact).max(64).optional(),
  verification: z.array(verification).max(256).optional(),
  continuation: continuation.optional(),
});
export type CompletionClaims = z.infer<typeof completionClaims>;

/** The completion callback: the legacy form with `success`, or the full form with `status`. */
export const completionCallback = z
  .strictObject({
    attemptId,
    providerRuntimeManifestDigest: digest.optional(),
    callbackSecret: presentedSecret.optional(),
    success: z.boolean().optional(),
    status: completionStatus.optional(),
    summary: text(20_000).optional(),
    error: text(20_000).optional(),
    ...completionClaims.shape,
  })
  .refine((body) => (body.success === undefined) !== (body.status === undefined), {
    path: ['status'],
    message: 'give either success (legacy) or status',
  })
  .meta({ id: 'CompletionCallback' });
export type CompletionCallback = z.infer<typeof completionCallback>;

export const terminalSource = z.enum(['process', 'stream', 'callback', 'remote-session', 'operator-interruption']);

export const changedFile = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'untracked']),
  previousPath: z.string().optional(),
});

/** What the harness itself saw, beside what the agent claims. */
export const harnessEvidence = z.object({
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  ended: z.enum(['exit', 'stopped', 'timeout', 'spawn-failed', 'lost', 'callback', 'not-dispatched']),
  headSha: z.string().optional(),
  /** What was checked out in the worktree at the end; `null` for a detached HEAD. */
  branch: z.string().nullable().optional(),
  commits: z.array(z.object({ sha: z.string(), subject: z.string() })).optional(),
  changedFiles: z.array(changedFile).optional(),
  truncated: z.boolean().optional(),
  /** What was enforced of the agent by the sandbox of its host; absent where it had none. */
  sandbox: sandboxEvidence.optional(),
  preservedRef: z.string().optional(),
  /** The commit that Runboard made at the end of what the agent had left uncommitted. */
  committed: z.object({ sha: z.string(), subject: z.string(), files: z.number().int() }).optional(),
  /** How many files are left uncommitted in the worktree, and why; `preservedRef` has their content. */
  uncommitted: z.object({ files: z.number().int(), reason: z.string() }).optional(),
  /** Why no work in the worktree could be preserved, when the worktree or its repository had been replaced or damaged. */
  workLost: z.string().optional(),
  /**
   * What was done in which phases, by the checkpoints of the worktree: from the one that began with the change
   * `fromSequence` (0: the launch) to that of `toSequence`. Absent when the phase did not change.
   */
  phaseSpans: z
    .array(
      z.object({
        fromSequence: z.number().int(),
        toSequence: z.number().int(),
        commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
        changedFiles: z.array(changedFile),
        truncated: z.boolean(),
      }),
    )
    .optional(),
  /** Files the agent's claims name, as they are in the worktree; a path without bytes is missing. */
  claimedFiles: z
    .array(z.object({ path: z.string(), bytes: z.number().int().nullable(), sha256: z.string().nullable() }))
    .optional(),
  /** What was changed outside the worktree during the run, and belongs to no other task; by any actor. */
  outside: z
    .array(
      z.object({
        what: z.enum([
          'primary-checkout',
          'primary-head',
          'primary-files',
          'ref',
          'worktree',
          'repository-setting',
          'hook',
        ]),
        target: z.string(),
        before: z.string().nullable(),
        after: z.string().nullable(),
      }),
    )
    .optional(),
  outputBytes: z.number().int().optional(),
  /** Number of the agent's lines beyond the length limit; absent when there were none. */
  refusedLines: z.number().int().optional(),
  /** Set when the agent ended by itself and had reported no result. */
  unreported: z.literal(true).optional(),
  /** Set when the agent ended its turn without a message: the summary is the board's. */
  silent: z.literal(true).optional(),
  durationMs: z.number().int().optional(),
});
export type HarnessEvidence = z.infer<typeof harnessEvidence>;

/** A claim, with whether the harness verified it. */
const checkedEvidence = z.object({
  ...evidence.shape,
  source: z.enum(['provider', 'harness']),
  verified: z.boolean(),
});
const checkedArtifact = z.object({ ...artifact.shape, verified: z.boolean() });
const checkedFile = z.object({ ...changedFile.shape, verified: z.boolean() });

/** Something the run did to the world; `authorized` by the envelope's policy, `verified` when the harness saw it. */
export const sideEffect = z.object({
  kind: sideEffectKind,
  description: z.string(),
  target: z.string().optional(),
  authorized: z.boolean(),
  verified: z.boolean().optional(),
});
export type SideEffect = z.infer<typeof sideEffect>;

/** The phase a run ended in, with every change before; the digests are those of its `phase-capability-evidence/v1`. */
const completionPhase = z.object({
  phase,
  /** `legacy`: under no limits of a phase. */
  evidence: z.enum(['legacy', 'profile']),
  digest: digest.optional(),
  launchPhase: phase.optional(),
  /** How often it changed. */
  sequence: z.number().int().optional(),
  transitions: z
    .array(
      z.object({
        sequence: z.number().int(),
        kind: z.enum(['transition', 'emergency', 'emergency-ended']),
        phase,
        digest,
        at: timestamp,
      }),
    )
    .optional(),
});

/** The one terminal record of an attempt; immutable once stored. */
export const completionResult = z
  .object({
    schemaVersion: z.literal('completion-result/v1'),
    attemptId,
    idempotencyKey: z.string(),
    completedAt: timestamp,
    terminalSource,
    status: completionStatus,
    claimedStatus: completionStatus.optional(),
    downgrades: z.array(z.object({ code: z.string(), message: z.string() })),
    /** What is reported beside the status and does not change it; absent when there is nothing. */
    findings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    /** Required verification steps that the run did not report as passed; absent when there are none. */
    unverified: z.array(z.object({ gateId: z.string(), description: z.string() })).optional(),
    summary: z.string(),
    error: z.string().optional(),
    claims: completionClaims,
    harness: harnessEvidence,
    blockers: z.array(blocker).optional(),
    evidence: z.array(checkedEvidence).optional(),
    changedFiles: z.array(checkedFile).optional(),
    artifacts: z.array(checkedArtifact).optional(),
    verification: z.array(verification).optional(),
    sideEffects: z.array(sideEffect),
    continuation: continuation.nullable().optional(),
    phase: completionPhase.optional(),
    digest,
  })
  .meta({ id: 'CompletionResult' });
export type CompletionResult = z.infer<typeof completionResult>;
