import { z } from 'zod';
import { attemptId, digest, slug, taskId, text, timestamp } from '../common';
import { listPage } from '../query';

export const approvalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled']);
export type ApprovalStatus = z.infer<typeof approvalStatus>;

export const approvalRequestKind = z.enum(['approval', 'elicitation']);
export const approvalActionClass = z.enum([
  'tool',
  'shell',
  'filesystem',
  'network',
  'budget',
  'workflow',
  'elicitation',
]);
export type ApprovalActionClass = z.infer<typeof approvalActionClass>;

/** From the least to the most that can go wrong. */
export const approvalRisk = z.enum(['low', 'medium', 'high', 'critical']);
export type ApprovalRisk = z.infer<typeof approvalRisk>;

/** `runapproval_` and 32 hexadecimal digits that follow from the request. */
export const approvalId = z.string().regex(/^runapproval_[0-9a-f]{32}$/, 'must look like runapproval_<32 hex digits>');

/** SHA-256 of the canonical JSON of the action, as 64 hexadecimal digits. */
export const actionHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits');

/** The authority that an approval is about, and the exact state it was requested in. */
export const approvalPhase = z.object({
  evidenceDigest: digest,
  manifestDigest: digest,
  /** Digest of the requested evidence. */
  identity: digest,
  transitionSequence: z.number().int().min(0),
  requirements: z.array(z.object({ dimension: z.string(), requestedScopes: z.array(z.string()) })),
});
export type ApprovalPhase = z.infer<typeof approvalPhase>;

/** Times to live of a request, in milliseconds. */
export const approvalLifetime = { shortestMs: 1_000, defaultMs: 300_000, longestMs: 86_400_000 } as const;

/** What a record has instead of response data: the data itself is passed to the waiting requester and stored nowhere. */
export const responseMarker = '[handed to the run]';

const resolution = z.object({
  decision: approvalStatus.exclude(['pending']),
  actor: z.string(),
  decidedAt: timestamp,
  note: z.string().optional(),
  responseData: z.literal(responseMarker).optional(),
});

/** `run-approval/v1`: one exact action that a person has to allow. */
export const runApproval = z
  .object({
    schemaVersion: z.literal('run-approval/v1'),
    id: approvalId,
    workspaceId: z.string(),
    taskId,
    attemptId,
    provider: z.string(),
    agentId: z.string(),
    requestKind: approvalRequestKind,
    actionClass: approvalActionClass,
    action: z.string(),
    actionHash,
    /** Bounded and without secrets; the hash is of the whole request. */
    details: z.record(z.string(), z.unknown()),
    resourceScope: z.array(z.string()),
    workingDirectory: z.string().nullable(),
    riskClass: approvalRisk,
    policyReason: z.string(),
    evidenceRevision: z.number().int().nullable(),
    providerRequestId: z.string(),
    threadId: z.string().nullable(),
    turnId: z.string().nullable(),
    itemId: z.string().nullable(),
    mobileSafe: z.boolean(),
    /** Whether the waiting requester takes data with the decision. */
    takesResponse: z.boolean(),
    phase: approvalPhase.optional(),
    status: approvalStatus,
    revision: z.number().int(),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp,
    resolution: resolution.optional(),
  })
  .meta({ id: 'RunApproval' });
export type RunApproval = z.infer<typeof runApproval>;

export const runApprovalQuery = z
  .strictObject({
    status: approvalStatus.optional(),
    taskId: taskId.optional(),
    attemptId: attemptId.optional(),
    agentId: slug.optional(),
    page: z.coerce.number().int().min(1).max(10_000).default(1),
    ...listPage(100, 200),
  })
  .meta({ id: 'RunApprovalQuery' });
export type RunApprovalQuery = z.infer<typeof runApprovalQuery>;

/** Longest response data as JSON, in bytes. */
export const responseLimitBytes = 32_768;

export const approvalDecision = z
  .strictObject({
    decision: z.enum(['approved', 'rejected']),
    expectedRevision: z.number().int().min(1),
    expectedActionHash: actionHash,
    note: text(2_000).optional(),
    responseData: z
      .record(z.string().max(200), z.json())
      .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= responseLimitBytes, 'must not exceed 32 KiB')
      .optional(),
  })
  .meta({ id: 'RunApprovalDecision' });
export type ApprovalDecision = z.infer<typeof approvalDecision>;

/** A requester's description of the approval it needs. */
export interface ApprovalRequest extends Pick<
  RunApproval,
  'workspaceId' | 'taskId' | 'attemptId' | 'provider' | 'agentId' | 'actionClass' | 'action' | 'providerRequestId'
> {
  requestKind?: RunApproval['requestKind'];
  details?: Record<string, unknown>;
  resourceScope?: string[];
  workingDirectory?: string;
  riskClass: ApprovalRisk;
  policyReason: string;
  evidenceRevision?: number;
  threadId?: string;
  turnId?: string;
  itemId?: string;
  /** Whether it may be decided from a telephone; never when the risk is critical. */
  mobileSafe?: boolean;
  phase?: ApprovalPhase;
  /** Milliseconds until no decision counts any more; five minutes when absent, one second to a day. */
  lifetimeMs?: number;
  /** Public key of the waiting requester, for response data that only it can read (`platform/crypto/sealed-box`). */
  responseKey?: string;
}
