import { localWorkspace } from '../../../contracts/common';
import type { Refusal } from '../../../contracts/refusal';
import type { AttemptState } from '../../../contracts/runs/attempt';
import { refusal } from '../../../domain/refusal';
import type { AdmissionRequestStore } from '../admission/admission-request-store';
import type { AttemptRecord, AttemptStore } from '../attempt-store';

export interface ParentSources {
  attempts: Pick<AttemptStore, 'get'>;
  admissionRequests: Pick<AdmissionRequestStore, 'get'>;
}

/** A launch that names the attempt it descends from. */
export interface Descent {
  taskId: string;
  parentAttemptId: string | undefined;
  workspaceId: string | undefined;
}

/**
 * Why a launch cannot descend from the attempt it names. On the task of that attempt it repeats it, whatever became of
 * it; on another task it is a child, which only an attempt has whose agent runs, in the same workspace.
 */
export async function parentProblem(
  { attempts, admissionRequests }: ParentSources,
  { taskId, parentAttemptId, workspaceId = localWorkspace }: Descent,
): Promise<Refusal | undefined> {
  if (parentAttemptId === undefined) {
    return undefined;
  }
  const [parent, request] = await Promise.all([attempts.get(parentAttemptId), admissionRequests.get(parentAttemptId)]);
  if (!parent || (request?.workspaceId ?? localWorkspace) !== workspaceId) {
    return refusal('NOT_FOUND', `No attempt has the id ${parentAttemptId}.`, { parentAttemptId });
  }
  if (parent.taskId === taskId || hasRunningAgent(parent)) {
    return undefined;
  }
  const { state, completion } = parent;
  return refusal('PARENT_NOT_RUNNING', `The parent attempt ${parentAttemptId} has no running agent.`, {
    parentAttemptId,
    state,
    ...(completion ? { status: completion.status } : {}),
  });
}

/** From the response that the run is started on; a queued or refused launch has no agent. */
const withAgent: readonly AttemptState[] = ['prepared', 'dispatched', 'running'];

/** Whether an attempt has an agent: started, and neither ended, claimed to have, nor reclaimed from its worker. */
export const hasRunningAgent = ({ state, claim, reclaimed, completion }: AttemptRecord): boolean =>
  withAgent.includes(state) && !claim && !reclaimed && !completion;
