import { localWorkspace } from '../../../contracts/common';
import type { Refusal } from '../../../contracts/refusal';
import type { LaunchOrigin } from '../../../contracts/runs/admission';
import type { Task } from '../../../contracts/tasks/task';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { queuePriority, workflowOf } from '../../../domain/admission/request';
import { refusal } from '../../../domain/refusal';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { StoredLaunch } from '../../recovery/stored-launch';
import type { AdmissionStores } from './dependencies';

interface RequestDependencies extends Pick<AdmissionStores, 'requests' | 'settings'> {
  attempts: Pick<AttemptStore, 'get'>;
}

/**
 * The admission request of a launch: its origin, its node in its tree, its urgency and how much it needs. Stored once; every
 * descendant of this attempt reads its tree there.
 */
export async function requestOf(
  deps: RequestDependencies,
  input: StoredLaunch,
  { record, task, requestedAt }: { record: AttemptRecord; task: Task | undefined; requestedAt: string },
): Promise<AdmissionRequest | Refusal> {
  const recorded = await deps.requests.get(record._id);
  if (recorded) {
    return recorded;
  }
  const origin = await originOf(deps, input, record);
  const lineage = await lineageOf(deps, origin, record);
  if ('status' in lineage) {
    return lineage;
  }
  const { admission } = await deps.settings.current();
  return deps.requests.put({
    version: 1,
    attemptId: record._id,
    taskId: record.taskId,
    workspaceId: input.workspaceId ?? localWorkspace,
    agent: record.agent,
    provider: record.provider,
    phase: record.phase,
    hostId: record.hostId,
    source: origin.source,
    edge: origin.edge,
    ...lineage,
    nodeId: record._id,
    priority: queuePriority(
      task?.priority,
      admission.queue.scheduler.levels,
      admission.queue.scheduler.defaultPriority,
    ),
    requested: admission.request,
    ...compact({
      workflowRunId: origin.workflow?.runId,
      workflowStepId: origin.workflow?.stepId,
      rootReservationId: origin.workflow?.rootReservationId,
    }),
    requestedAt,
  });
}

/**
 * The origin of the launch, as it states, or by inference. A retry is of the same step; that it uses the fallback agent shows
 * in the agent it names.
 */
async function originOf(
  { attempts, requests }: Pick<RequestDependencies, 'attempts' | 'requests'>,
  { origin, retry, request }: StoredLaunch,
  { taskId }: AttemptRecord,
): Promise<LaunchOrigin> {
  if (retry) {
    const tried = await requests.get(retry.parentAttemptId);
    const workflow = tried && workflowOf(tried);
    const byAnother = tried !== undefined && request.agent !== undefined && request.agent !== tried.agent;
    return {
      ...(byAnother
        ? ({ source: 'fallback', edge: 'fallback' } as const)
        : ({ source: 'recovery', edge: 'retry' } as const)),
      parentAttemptId: retry.parentAttemptId,
      ...compact({ workflow }),
    };
  }
  if (origin) {
    return origin;
  }
  const { parentAttemptId } = request;
  if (parentAttemptId === undefined) {
    return { source: 'direct', edge: 'root' };
  }
  // On its own task a launch repeats the earlier attempt; on another one it is the child of the agent that requested it.
  const parent = await attempts.get(parentAttemptId);
  if (parent?.taskId === taskId) {
    return { source: 'direct', edge: 'retry', parentAttemptId };
  }
  return { source: 'child-agent', edge: 'child-agent', parentAttemptId };
}

/** The tree of the parent, one level down; without a parent, a tree of its own. */
async function lineageOf(
  { requests, attempts }: RequestDependencies,
  { parentAttemptId, edge }: LaunchOrigin,
  { _id: attemptId, taskId }: AttemptRecord,
): Promise<Pick<AdmissionRequest, 'rootObjectiveId' | 'rootTaskId' | 'parentNodeId' | 'depth'> | Refusal> {
  if (parentAttemptId === undefined) {
    if (edge !== 'root') {
      throw new Error(`${attemptId} is a ${edge} of nothing.`);
    }
    return { rootObjectiveId: attemptId, rootTaskId: taskId, parentNodeId: null, depth: 0 };
  }
  const parent = await requests.get(parentAttemptId);
  if (parent) {
    const { rootObjectiveId, rootTaskId, depth } = parent;
    return { rootObjectiveId, rootTaskId, parentNodeId: parentAttemptId, depth: depth + 1 };
  }
  const before = await attempts.get(parentAttemptId);
  if (before) {
    return {
      rootObjectiveId: before.rootAttemptId,
      rootTaskId: before.taskId,
      parentNodeId: parentAttemptId,
      depth: before.retryNumber + 1,
    };
  }
  const code = 'ADMISSION_QUEUE_TARGET_MISSING';
  return refusal(code, `The parent attempt ${parentAttemptId} does not exist.`, {
    code,
    parentAttemptId,
  });
}
