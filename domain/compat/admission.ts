import { z } from 'zod';
import { compatQueueEntry, compatReservation, compatTree } from '../../contracts/compat';
import type {
  Capacity,
  EvaluatedPolicy,
  PresentedQueueEntry,
  PresentedReservation,
  TreeControl,
  TreeSummary,
} from '../../contracts/runs/admission';
import { compact } from '../../platform/json/compact';
import type { CompatRow } from './presenter';

const presentCapacity = (capacity: Capacity) => ({
  ...capacity,
  runSlots: capacity.runs,
  processSlots: capacity.processes,
  estimatedMemoryMb: capacity.memoryMb,
});

const ceilings = { runs: 'concurrentRuns', processes: 'processSlots', memoryMb: 'estimatedMemoryMb' } as const;

const presentPolicy = (policy: EvaluatedPolicy) => ({
  ...policy,
  id: policy.policy,
  limits: { [ceilings[policy.resource]]: policy.limit },
});

export function presentReservation(reservation: PresentedReservation) {
  const { attempt, request, requested, tree, workflow, policies } = reservation;
  return {
    ...reservation,
    attemptId: attempt.attemptId,
    policies: policies.map(presentPolicy),
    request: {
      ...request,
      requested: presentCapacity(requested),
      executionTree: tree,
      ...compact({
        workflowRunId: workflow?.runId,
        workflowStepId: workflow?.stepId,
        rootReservationId: workflow?.rootReservationId,
      }),
    },
  };
}

/** What a queued launch has to wait for, by its readiness. */
const startFactors: Record<PresentedQueueEntry['readiness'], readonly string[]> = {
  ready: ['queue-eligibility', 'capacity-recheck'],
  blocked: ['capacity-available'],
  backoff: ['retry-backoff'],
  leased: ['lease-expiry'],
  ended: [],
};

const postures = {
  queued: 'none',
  requeued: 'none',
  leased: 'active',
  dispatched: 'dispatched',
  terminal: 'terminal',
} as const;

export function presentQueueEntry(entry: PresentedQueueEntry) {
  const { priority, effectivePriority, selection, tree, taskId, attemptId, enqueuedAt } = entry;
  return {
    ...entry,
    ...compact({ position: selection?.position }),
    rawPriority: priority,
    agePromotion: selection?.promotions ?? Math.abs(effectivePriority - priority),
    lease: { posture: postures[entry.state] },
    launch: {
      source: entry.source,
      target: entry.source === 'workflow' ? 'workflow-step' : 'agent-launch',
      workspaceId: entry.workspaceId,
      provider: entry.provider,
    },
    navigation: { taskId, attemptId, executionTree: tree },
    retry: { count: entry.retries, availableAt: entry.notBefore ?? enqueuedAt },
    conditionalStartFactors: startFactors[entry.readiness],
    limitingPolicies: entry.limitingPolicies.map(presentPolicy),
    selectionEvidence: selection,
    createdAt: enqueuedAt,
  };
}

/** The control of a tree; `resumedAt` once it was resumed. */
const presentControl = (control: TreeControl) => ({
  ...control,
  recordedAt: control.at,
  ...(control.action === 'resume' ? { resumedAt: control.at, resumeReason: control.reason } : {}),
});

function presentTree(summary: TreeSummary) {
  const { control, committed, reserved } = summary;
  return {
    ...summary,
    committed: presentCapacity(committed),
    reserved: presentCapacity(reserved),
    ...compact({
      control: control && presentControl(control),
      queueEntriesCancelled: control?.drainedQueued,
      interruptedAttempts: control?.interrupted,
    }),
  };
}

/** Reservations, the queue and execution trees. */
export const admissionRows: readonly CompatRow[] = [
  {
    operations: ['listReservations'],
    present: (reply: { reservations: PresentedReservation[] }) => ({
      ...reply,
      reservations: reply.reservations.map(presentReservation),
    }),
    response: z.looseObject({ reservations: z.array(compatReservation) }),
  },
  { operations: ['getReservation'], present: presentReservation, response: compatReservation },
  {
    operations: ['listAdmissionQueue', 'listPendingLaunches'],
    present: (reply: { entries: PresentedQueueEntry[] }) => ({
      ...reply,
      entries: reply.entries.map(presentQueueEntry),
    }),
    response: z.looseObject({ entries: z.array(compatQueueEntry) }),
  },
  {
    operations: ['inspectQueueEntry'],
    present: (reply: { entry: PresentedQueueEntry }) => ({ ...reply, entry: presentQueueEntry(reply.entry) }),
    response: z.looseObject({ entry: compatQueueEntry }),
  },
  {
    operations: ['cancelQueueEntry'],
    present(reply: { entry: PresentedQueueEntry }) {
      const entry = presentQueueEntry(reply.entry);
      return { ...reply, entry, queueEntry: entry };
    },
    response: z.looseObject({ entry: compatQueueEntry, queueEntry: compatQueueEntry }),
  },
  { operations: ['getExecutionTree', 'cancelExecutionTree'], present: presentTree, response: compatTree },
  {
    operations: ['resumeExecutionTree'],
    present: (summary: TreeSummary) => ({
      ...presentTree(summary),
      ...(summary.control?.action === 'resume'
        ? { resumedAt: summary.control.at, resumeReason: summary.control.reason }
        : {}),
    }),
    response: compatTree,
  },
];
