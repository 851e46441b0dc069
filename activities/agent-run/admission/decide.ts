import type { Refusal } from '../../../contracts/refusal';
import type { EvaluatedPolicy } from '../../../contracts/runs/admission';
import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import type { AdmissionSettings } from '../../../contracts/settings/settings';
import {
  type CapacityPolicy,
  deniedBy,
  evaluated,
  hostKey,
  limiting,
  scopesOf,
} from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { refusal } from '../../../domain/refusal';
import { type AdmissionControl, policiesFor, retryAfter } from './dependencies';
import { enterTree } from './tree-gate';

/** A launch has its capacity, waits for it, or is refused. */
export type AdmissionDecision =
  { decision: 'held' } | { decision: 'queued'; launch: LaunchOutcome } | { decision: 'refused'; launch: Refusal };

/**
 * Decides about the capacity of one launch: the tree it belongs to, the ceilings it could never fit under, the launches that
 * wait for the same, what is free now, and the bounds of the queue. Repeated after a crash it returns its first decision.
 */
export async function decideCapacity(
  deps: AdmissionControl,
  request: AdmissionRequest,
  { reserve = true }: { reserve?: boolean } = {},
): Promise<AdmissionDecision> {
  const { admission: settings } = await deps.settings.current();
  const policies = await policiesFor(deps, settings, request);
  const refused = await enterTree(deps, request, { settings, policies });
  if (refused) {
    return { decision: 'refused', launch: refused };
  }

  const decision = await fit(deps, request, { settings, policies, reserve });
  if (decision.decision === 'refused') {
    await deps.trees.unregister(request.rootObjectiveId, request.nodeId);
  }
  return decision;
}

async function fit(
  deps: AdmissionControl,
  request: AdmissionRequest,
  { settings, policies, reserve }: { settings: AdmissionSettings; policies: CapacityPolicy[]; reserve: boolean },
): Promise<AdmissionDecision> {
  const waiting = await deps.queue.get(request.attemptId);
  if (waiting) {
    const hint = retryAfter(settings, await deps.queue.depthBelow(settings.queue.globalLimit));
    return queued(request, { ...waiting, retryAfterMs: hint });
  }
  const denied = deniedBy(policies, request.requested);
  if (denied) {
    return { decision: 'refused', launch: policyDenied(denied, request) };
  }

  const keys = scopesOf(request)
    .filter(({ scope }) => scope !== 'tree')
    .map(({ key }) => key);
  const waitedFor = settings.queue.enabled ? await deps.queue.waitedFor(keys) : undefined;
  if (reserve && waitedFor === undefined) {
    const reserved = await deps.reservations.reserve(request, policies, { now: deps.now(), leaseMs: settings.leaseMs });
    if (reserved.outcome === 'held') {
      return { decision: 'held' };
    }
    if (reserved.outcome === 'over') {
      return { decision: 'refused', launch: isOver(request) };
    }
    return enqueue(deps, request, {
      settings,
      blocked: reserved.policies,
      limitingKey: reserved.policies[0]?.key ?? 'global',
    });
  }
  // Those before it wait for this, and so does it.
  const ahead = policies.filter(({ key }) => key === waitedFor);
  return enqueue(deps, request, { settings, blocked: ahead, limitingKey: waitedFor ?? 'global' });
}

async function enqueue(
  deps: AdmissionControl,
  request: AdmissionRequest,
  { settings, blocked, limitingKey }: { settings: AdmissionSettings; blocked: CapacityPolicy[]; limitingKey: string },
): Promise<AdmissionDecision> {
  const { globalLimit, perWorkspaceLimit } = settings.queue;
  const [depth, workspaceDepth] = await Promise.all([
    deps.queue.depthBelow(globalLimit),
    deps.queue.depthOfBelow(request.workspaceId, perWorkspaceLimit),
  ]);
  const retryAfterMs = retryAfter(settings, depth);
  if (!settings.queue.enabled) {
    return { decision: 'refused', launch: overload(blocked, retryAfterMs) };
  }
  const full =
    depth >= globalLimit
      ? { scope: 'global', scopeId: 'global', current: depth, limit: globalLimit }
      : workspaceDepth >= perWorkspaceLimit
        ? { scope: 'workspace', scopeId: request.workspaceId, current: workspaceDepth, limit: perWorkspaceLimit }
        : undefined;
  if (full) {
    return { decision: 'refused', launch: overflow(full, retryAfterMs) };
  }
  const enqueuedAt = deps.now().toISOString();
  const limitingPolicies = blocked.map(evaluated);
  await deps.queue.enqueue({ ...request, enqueuedAt, limitingKey, limitingPolicies });
  return queued(request, { enqueuedAt, limitingPolicies, retryAfterMs });
}

interface Waiting {
  enqueuedAt: string;
  limitingPolicies: EvaluatedPolicy[];
  retryAfterMs: number;
}

function queued(request: AdmissionRequest, { enqueuedAt, limitingPolicies, retryAfterMs }: Waiting): AdmissionDecision {
  const scopes = limiting(limitingPolicies);
  return {
    decision: 'queued',
    launch: {
      taskId: request.taskId,
      attemptId: request.attemptId,
      queueId: request.attemptId,
      agent: request.agent,
      status: 'queued',
      enqueuedAt,
      retryAfterMs,
      // Only earlier launches are in its way.
      limitingScopes: scopes.length > 0 ? scopes : [{ scope: 'global', scopeId: 'global' }],
    },
  };
}

function policyDenied(
  { policy, scope, scopeId, resource, limit }: CapacityPolicy,
  { requested }: AdmissionRequest,
): Refusal {
  const code = 'ADMISSION_POLICY_DENIED';
  return refusal(code, `The launch requests more than ${policy} allows in total; request less.`, {
    code,
    scope,
    scopeId,
    policy,
    requested: requested[resource],
    limit,
    retryable: false,
  });
}

function overload(blocked: CapacityPolicy[], retryAfterMs: number): Refusal {
  const code = 'ADMISSION_OVERLOAD';
  const [first] = blocked;
  return refusal(code, 'No capacity is available for this launch; try again later.', {
    code,
    scope: first?.scope ?? 'global',
    scopeId: first?.scopeId ?? 'global',
    limitingScopes: limiting(blocked.map(evaluated)),
    retryable: true,
    retryAfterMs,
  });
}

function overflow(
  full: { scope: string; scopeId: string; current: number; limit: number },
  retryAfterMs: number,
): Refusal {
  const code = 'ADMISSION_QUEUE_OVERFLOW';
  return refusal(code, 'The queue for capacity is full; try again later.', {
    code,
    ...full,
    retryable: true,
    retryAfterMs,
  });
}

function isOver({ attemptId, hostId }: AdmissionRequest): Refusal {
  const code = 'ADMISSION_RESERVATION_MISSING';
  return refusal(code, 'The capacity of this launch was released before it began.', {
    code,
    attemptId,
    ...(hostId === null ? {} : { host: hostKey(hostId) }),
  });
}
