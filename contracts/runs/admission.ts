import { z } from 'zod';
import { attemptId, text, timestamp } from '../common';
import { listPage, nextCursor, several } from '../query';
import { idempotencyKey } from './launch/launch';

/** Where a launch comes from. Every one of them passes through admission; a test iterates this list. */
export const launchSource = z.enum([
  'direct',
  'conversation',
  'recovery',
  'fallback',
  'scheduled',
  'watcher',
  'workflow',
  'child-agent',
]);
export type LaunchSource = z.infer<typeof launchSource>;

/** What a node of an execution tree is to its parent. */
export const treeEdge = z.enum([
  'root',
  'resume',
  'follow-up',
  'fork',
  'retry',
  'fallback',
  'provider-handoff',
  'workflow-step',
  'child-agent',
]);
export type TreeEdge = z.infer<typeof treeEdge>;

/** The step of a workflow run that something is launched for. */
export const workflowBinding = z.object({
  runId: z.string(),
  stepId: z.string().optional(),
  rootReservationId: z.string().optional(),
});
export type WorkflowBinding = z.infer<typeof workflowBinding>;

/** The origin of a launch, as its caller states it; when absent, it follows from the launch itself. */
export interface LaunchOrigin {
  source: LaunchSource;
  edge: TreeEdge;
  /** The attempt this one descends from; a root has none. */
  parentAttemptId?: string;
  /** Set for steps of a workflow run. */
  workflow?: WorkflowBinding;
}

/** Run slots, process slots and estimated memory in MB. */
export const capacity = z.object({ runs: z.number(), processes: z.number(), memoryMb: z.number() });
export type Capacity = z.infer<typeof capacity>;

export const admissionScope = z.enum(['global', 'workspace', 'root-task', 'provider', 'host', 'task', 'tree']);
export type AdmissionScope = z.infer<typeof admissionScope>;

/** Something that limits a launch. Ids of hosts and root tasks are hashed. */
export const limitingScope = z.object({ scope: admissionScope, scopeId: z.string() });

/** One ceiling as it was evaluated for a launch. */
export const evaluatedPolicy = z.object({
  policy: z.string(),
  scope: admissionScope,
  scopeId: z.string(),
  resource: z.enum(['runs', 'processes', 'memoryMb']),
  limit: z.number(),
});
export type EvaluatedPolicy = z.infer<typeof evaluatedPolicy>;

/** `execution-tree-identity/v1`: which node of which tree a launch is, and the outcome of its request. */
export const treeIdentity = z
  .object({
    schemaVersion: z.literal('execution-tree-identity/v1'),
    rootObjectiveId: z.string(),
    nodeId: z.string(),
    parentNodeId: z.string().nullable(),
    edge: treeEdge,
    depth: z.number().int().min(0),
    requested: capacity,
    remaining: capacity,
    committed: capacity,
    releasedUnused: capacity,
  })
  .meta({ id: 'ExecutionTreeIdentity' });

export const reservationState = z.enum(['active', 'released', 'expired']);
export const releaseReason = z.enum(['start-failed', 'completed', 'failed', 'cancelled', 'interrupted', 'reconciled']);
export type ReleaseReason = z.infer<typeof releaseReason>;

/** `admission-reservation/v1` as callers see it. */
export const reservation = z
  .object({
    schemaVersion: z.literal('admission-reservation/v1'),
    id: z.string(),
    state: reservationState,
    revision: z.number().int(),
    request: z.object({
      version: z.literal(1),
      source: launchSource,
      taskId: z.string(),
      attemptId,
      workspaceId: z.string(),
      rootTaskId: z.string(),
      agent: z.string(),
      provider: z.string(),
      hostId: z.string().nullable(),
      phase: z.string(),
      priority: z.number().int(),
      requestedAt: timestamp,
    }),
    requested: capacity,
    policies: z.array(evaluatedPolicy),
    attempt: z.object({ taskId: z.string(), attemptId }),
    tree: treeIdentity,
    workflow: workflowBinding.nullable(),
    lease: z.object({ heartbeatAt: timestamp, expiresAt: timestamp }),
    release: z.object({ reason: releaseReason, releasedAt: timestamp, evidence: z.string() }).nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'AdmissionReservation' });
export type PresentedReservation = z.infer<typeof reservation>;

export const queueState = z.enum(['queued', 'leased', 'requeued', 'dispatched', 'terminal']);
export type QueueState = z.infer<typeof queueState>;

const identifier = z.string().min(1).max(200).optional();

export const reservationQuery = z.strictObject({
  workspaceId: identifier,
  taskId: identifier,
  rootTaskId: identifier,
  provider: identifier,
  hostId: identifier,
  workflowRunId: identifier,
  workflowStepId: identifier,
  rootReservationId: identifier,
  rootObjectiveId: identifier,
  nodeId: identifier,
  parentNodeId: identifier,
  state: several(reservationState),
  ...listPage(100, 1_000),
});

export const reservationList = z
  .object({ generatedAt: timestamp, reservations: z.array(reservation), nextCursor })
  .meta({ id: 'AdmissionReservationList' });

/** Up to about thirty years: the time before now by that is one. */
const ageMs = z.coerce.number().int().min(0).max(1_000_000_000_000).optional();

export const queueQuery = z.strictObject({
  workspaceId: identifier,
  rootObjectiveId: identifier,
  nodeId: identifier,
  source: several(launchSource),
  state: several(queueState),
  limitingScope: several(admissionScope),
  priority: z.coerce.number().int().min(0).max(9).optional(),
  minAgeMs: ageMs,
  maxAgeMs: ageMs,
  page: z.coerce.number().int().min(1).max(1_000).default(1),
  ...listPage(50, 200),
});
export type QueueQuery = z.output<typeof queueQuery>;

/** Of launches that wait: their states are no choice. */
export const pendingQuery = queueQuery.omit({ state: true });

/** How the scheduler came to choose an entry. */
export const selectionEvidence = z.object({
  evaluatedAt: timestamp,
  effectivePriority: z.number().int(),
  promotions: z.number().int(),
  workspaceTurn: z.number().int(),
  position: z.number().int(),
});
export type SelectionEvidence = z.infer<typeof selectionEvidence>;

/** A queue entry as callers see it: no prompts, messages, arguments or credentials. */
export const queueEntry = z.object({
  id: z.string(),
  revision: z.number().int(),
  state: queueState,
  taskId: z.string(),
  attemptId,
  workspaceId: z.string(),
  rootTask: z.string(),
  host: z.string().nullable(),
  agent: z.string(),
  provider: z.string(),
  phase: z.string(),
  source: launchSource,
  tree: treeIdentity.pick({
    schemaVersion: true,
    rootObjectiveId: true,
    nodeId: true,
    parentNodeId: true,
    edge: true,
    depth: true,
  }),
  priority: z.number().int(),
  effectivePriority: z.number().int(),
  requested: capacity,
  enqueuedAt: timestamp,
  ageMs: z.number().int(),
  retries: z.number().int(),
  retryAfterMs: z.number().int(),
  readiness: z.enum(['ready', 'blocked', 'backoff', 'leased', 'ended']),
  notBefore: timestamp.nullable(),
  limitingScopes: z.array(limitingScope),
  limitingPolicies: z.array(evaluatedPolicy),
  selection: selectionEvidence.nullable(),
  outcome: z.object({ code: z.string(), reason: z.string(), at: timestamp }).nullable(),
});
export type PresentedQueueEntry = z.infer<typeof queueEntry>;

export const queueList = z
  .object({
    schemaVersion: z.literal('admission-queue-list/v1'),
    generatedAt: timestamp,
    conditional: z.literal(true),
    depth: z.object({
      global: z.object({ current: z.number().int(), limit: z.number().int() }),
      workspaces: z.array(z.object({ workspaceId: z.string(), current: z.number().int(), limit: z.number().int() })),
    }),
    pagination: z.object({
      page: z.number().int(),
      limit: z.number().int(),
      total: z.number().int(),
      hasMore: z.boolean(),
      snapshotTruncated: z.boolean(),
    }),
    entries: z.array(queueEntry),
    nextCursor,
  })
  .meta({ id: 'AdmissionQueueList' });

export const queueInspection = z
  .object({
    schemaVersion: z.literal('admission-queue-inspection/v1'),
    generatedAt: timestamp,
    conditional: z.literal(true),
    entry: queueEntry,
  })
  .meta({ id: 'AdmissionQueueInspection' });

/** The body of every cancel and resume. */
export const controlRequest = z
  .strictObject({ idempotencyKey, reason: text(2_000, 1) })
  .meta({ id: 'AdmissionControlRequest' });
export type ControlRequest = z.infer<typeof controlRequest>;

export const treeState = z.enum(['open', 'paused', 'cancelled']);
export const breakerSignal = z.object({
  signal: z.enum([
    'descendant-limit',
    'depth-limit',
    'active-reservation-limit',
    'queued-descendant-limit',
    'capacity-pressure',
    'budget-pressure',
  ]),
  current: z.number(),
  limit: z.number(),
  scope: admissionScope.optional(),
  scopeId: z.string().optional(),
  /** Of pressure on a budget: which. */
  budget: z.enum(['tokens', 'costUsd']).optional(),
});
export type BreakerSignal = z.infer<typeof breakerSignal>;

/** `execution-tree-control/v1`: the last control action on a tree. */
export const treeControl = z
  .object({
    schemaVersion: z.literal('execution-tree-control/v1'),
    state: treeState,
    revision: z.number().int(),
    action: z.enum(['pause', 'resume', 'cancel']),
    actor: z.string(),
    reason: z.string(),
    at: timestamp,
    signals: z.array(breakerSignal),
    /** Of a cancelled tree: whether every descendant has ended. */
    drained: z.boolean().optional(),
    drainedQueued: z.number().int().optional(),
    interrupted: z.number().int().optional(),
  })
  .meta({ id: 'ExecutionTreeControl' });
export type TreeControl = z.infer<typeof treeControl>;

export const treeQuery = z.strictObject(listPage(50, 200));

/** The summary of one tree: what it has used, what it holds, and what prevents it from growing. */
export const treeSummary = z
  .object({
    schemaVersion: z.literal('execution-tree-summary/v1'),
    rootObjectiveId: z.string(),
    workspaceId: z.string(),
    state: treeState,
    control: treeControl.optional(),
    descendants: z.number().int(),
    queued: z.number().int(),
    committed: capacity,
    reserved: capacity,
    policies: z.array(
      z.object({
        policy: z.string(),
        used: z.number(),
        reserved: z.number(),
        remaining: z.number(),
        blocksNextLaunch: z.boolean(),
      }),
    ),
    nextCursor,
    contributors: z.array(
      z.object({
        nodeId: z.string(),
        parentNodeId: z.string().nullable(),
        edge: treeEdge,
        depth: z.number().int(),
        source: launchSource,
        state: z.enum(['queued', 'active', 'released', 'expired', 'registered']),
        committed: capacity,
        reserved: capacity,
      }),
    ),
    contributorCount: z.number().int(),
    truncated: z.boolean(),
    generatedAt: timestamp,
  })
  .meta({ id: 'ExecutionTreeSummary' });
export type TreeSummary = z.infer<typeof treeSummary>;
