import { z } from 'zod';
import { attemptId, digest, phase, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { approvalId, runApproval } from './approval';

/** What authority is about. */
export const phaseDimension = z.enum([
  'filesystem.read',
  'filesystem.write',
  'command.execute',
  'network.egress',
  'credential.access',
  'external.action',
  'artifact.plan.write',
]);
export type PhaseDimension = z.infer<typeof phaseDimension>;

/** What can take authority away. */
export const phaseSource = z.enum(['parent', 'agent-profile', 'sandbox', 'tool-catalog', 'launch-policy']);
export type PhaseSource = z.infer<typeof phaseSource>;

/** Whether the limits of a dimension are enforced: they are, the agent could break them, or its runtime lacks them. */
export const phaseEnforcement = z.enum(['enforced', 'unenforceable', 'unsupported']);
export type PhaseEnforcement = z.infer<typeof phaseEnforcement>;

/** A scope matches itself and nothing else; `*` is everything. */
const scopes = z.array(text(512, 1)).max(64);

export const dimensionEvidence = z.object({
  scopes,
  /** Those of the scopes that need an approval each time. */
  approval: scopes,
  enforcement: phaseEnforcement,
  /** The sources without which there would be more. */
  limitedBy: z.array(phaseSource),
});

/**
 * `phase-capability-evidence/v1`: what a run may do in its phase, and whether that is enforced. `legacy`: launched without
 * a phase, under no limits.
 */
export const phaseEvidence = z
  .object({
    schemaVersion: z.literal('phase-capability-evidence/v1'),
    phase,
    mode: z.enum(['profile', 'legacy']),
    dimensions: z.record(phaseDimension, dimensionEvidence),
    digest,
  })
  .meta({ id: 'PhaseEvidence' });
export type PhaseEvidence = z.infer<typeof phaseEvidence>;

/** Why a phase cannot be had. */
export const phaseBlocker = z.object({
  code: z.enum([
    'phase-required-authority-denied',
    'phase-required-authority-unsupported',
    'phase-required-authority-unenforceable',
    'phase-plan-artifact-not-allowed',
    'phase-plan-artifact-path-invalid',
  ]),
  dimension: phaseDimension,
  message: z.string(),
  requestedScopes: z.array(z.string()),
});
export type PhaseBlocker = z.infer<typeof phaseBlocker>;

export const phaseComparison = z.enum(['same', 'narrower', 'wider']);
export type PhaseComparison = z.infer<typeof phaseComparison>;

/** One change of a run's authority. */
export const phaseTransition = z.object({
  sequence: z.number().int().min(1),
  operationId: z.string(),
  kind: z.enum(['transition', 'emergency', 'emergency-ended']),
  comparison: phaseComparison,
  fromEvidenceDigest: digest,
  evidence: phaseEvidence,
  reason: z.string(),
  actor: z.string(),
  at: timestamp,
  approvalId: approvalId.optional(),
  justification: z.string().optional(),
  expiresAt: timestamp.optional(),
});
export type PhaseTransition = z.infer<typeof phaseTransition>;

/** `GET /api/agents/:taskId/phase`: what a run may do now, and how it came to that. */
export const phaseSnapshot = z
  .object({
    schemaVersion: z.literal('phase-snapshot/v1'),
    taskId,
    attemptId,
    launchPhase: phase,
    evidence: phaseEvidence,
    manifestDigest: digest,
    sequence: z.number().int().min(0),
    /** Set while an emergency lasts. */
    emergency: z.object({ operationId: z.string(), expiresAt: timestamp }).nullable(),
    /** The newest last. */
    history: z.array(phaseTransition),
    nextCursor,
  })
  .meta({ id: 'PhaseSnapshot' });
export type PhaseSnapshot = z.infer<typeof phaseSnapshot>;

export const phaseQuery = z
  .strictObject({ attemptId: attemptId.optional(), ...listPage(50, 200) })
  .meta({ id: 'PhaseQuery' });

/**
 * The authority a caller requests for a run: a phase, and less of it where dimensions are named. Evidence can be sent as it was
 * read.
 */
export const phaseTarget = z.strictObject({
  schemaVersion: z.literal('phase-capability-evidence/v1').optional(),
  phase,
  mode: z.literal('profile').optional(),
  dimensions: z
    .partialRecord(
      phaseDimension,
      z.strictObject({ scopes, ...dimensionEvidence.omit({ scopes: true }).partial().shape }),
    )
    .optional(),
  digest: digest.optional(),
});
export type PhaseTarget = z.infer<typeof phaseTarget>;

/** The longest an emergency lasts, in milliseconds. */
export const longestEmergencyMs = 86_400_000;

export const phaseTransitionRequest = z
  .strictObject({
    attemptId,
    /** The caller's name of this change: the same one again is the same change. */
    operationId: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'letters, digits, dot, dash, colon and underscore'),
    expectedSequence: z.number().int().min(0),
    expectedPhaseEvidenceDigest: digest,
    expectedManifestDigest: digest,
    reason: text(2_000, 1),
    targetEvidence: phaseTarget,
    /** What the caller takes the run to be allowed now. */
    fromEvidence: phaseEvidence.optional(),
    approvalId: approvalId.optional(),
    emergencyOverride: z
      .strictObject({ justification: text(4_000, 8), expiresAt: z.iso.datetime({ offset: true }) })
      .optional(),
  })
  .refine((body) => body.approvalId === undefined || body.emergencyOverride === undefined, {
    path: ['emergencyOverride'],
    message: 'give either an approval or an emergency override',
  })
  .meta({ id: 'PhaseTransitionRequest' });
export type PhaseTransitionRequest = z.infer<typeof phaseTransitionRequest>;

/** 201: the change is made. 202: it waits for an approval; send it again with `approvalId` once that is approved. */
export const phaseTransitionResponse = z
  .discriminatedUnion('status', [
    z.object({
      status: z.literal('applied'),
      comparison: phaseComparison,
      transition: phaseTransition,
      snapshot: phaseSnapshot,
    }),
    z.object({
      status: z.literal('approval-required'),
      comparison: z.literal('wider'),
      approvalId,
      approval: runApproval,
      targetEvidence: phaseEvidence,
    }),
  ])
  .meta({ id: 'PhaseTransitionAnswer' });
export type PhaseTransitionResponse = z.infer<typeof phaseTransitionResponse>;
