import type { StoredLaunch } from '../stored-launch';
import type { LaunchOrigin } from '../../contracts/admission';
import { localWorkspace } from '../../contracts/common';
import type { LaunchRefusal } from '../../contracts/launch';
import type { AdmissionRequest } from '../../runs/admission/request';
import { queuePriority, workflowOf } from '../../runs/admission/request';
import { refusal } from '../../runs/refusal';
import type { AttemptRecord, AttemptStore } from '../../stores/attempt-store';
import type { Board } from '../../stores/board-files/board';
import type { AdmissionStores } from './dependencies';

interface RequestDependencies extends Pick<AdmissionStores, 'requests' | 'settings'> {
  board: Pick<Board, 'get'>;
  attempts: Pick<AttemptStore, 'get'>;
}

/**
 * What a launch asks admission for: where it comes from, which node of which tree it is, how urgent it is and how much it
 * needs. Written down once; whoever descends from this attempt finds its tree there.
 */
export async function requestOf(
  deps: RequestDependencies,
  input: StoredLaunch,
  record: AttemptRecord,
  requestedAt: string,
): Promise<AdmissionRequest | LaunchRefusal> {
  const known = await deps.requests.get(record._id);
  if (known) return known;
  const origin = await originOf(deps, input, record);
  const lineage = await lineageOf(deps, origin, record);
  if ('status' in lineage) return lineage;
  const { admission } = await deps.settings.current();
  const task = (await deps.board.get(record.taskId))?.task;
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
    ...(origin.workflow === undefined ? {} : { workflowRunId: origin.workflow.runId }),
    ...(origin.workflow?.stepId === undefined ? {} : { workflowStepId: origin.workflow.stepId }),
    ...(origin.workflow?.rootReservationId === undefined
      ? {}
      : { rootReservationId: origin.workflow.rootReservationId }),
    requestedAt,
  });
}

/**
 * Where the launch comes from, as it says, or as it looks. What is tried again is tried for the same step; that it is tried
 * by the fallback agent shows in the agent it names.
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
      ...(workflow ? { workflow } : {}),
    };
  }
  if (origin) return origin;
  const { parentAttemptId } = request;
  if (parentAttemptId === undefined) return { source: 'direct', edge: 'root' };
  // On its own task again a launch repeats what was tried; on another one it is the child of the agent that asked.
  const parent = await attempts.get(parentAttemptId);
  if (parent?.taskId === taskId) return { source: 'direct', edge: 'retry', parentAttemptId };
  return { source: 'child-agent', edge: 'child-agent', parentAttemptId };
}

/** The tree of the parent, one level down; without a parent, a tree of its own. */
async function lineageOf(
  { requests, attempts }: RequestDependencies,
  { parentAttemptId, edge }: LaunchOrigin,
  { _id: attemptId, taskId }: AttemptRecord,
): Promise<Pick<AdmissionRequest, 'rootObjectiveId' | 'rootTaskId' | 'parentNodeId' | 'depth'> | LaunchRefusal> {
  if (parentAttemptId === undefined) {
    if (edge !== 'root') throw new Error(`${attemptId} is a ${edge} of nothing.`);
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
  return refusal(code, 409, `The attempt ${parentAttemptId}, which this launch descends from, is not known.`, {
    code,
    parentAttemptId,
  });
}
