import type { AttemptState } from '../contracts/attempt';
import { localWorkspace } from '../contracts/common';
import type { LaunchRefusal } from '../contracts/launch';
import { refusal } from '../runs/refusal';
import type { AdmissionRequestStore } from './admission-request-store';
import type { AttemptRecord, AttemptStore } from './attempt-store';

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
): Promise<LaunchRefusal | undefined> {
  if (parentAttemptId === undefined) return undefined;
  const [parent, request] = await Promise.all([attempts.get(parentAttemptId), admissionRequests.get(parentAttemptId)]);
  if (!parent || (request?.workspaceId ?? localWorkspace) !== workspaceId) {
    return refusal('NOT_FOUND', 404, `No attempt has the id ${parentAttemptId}.`, { parentAttemptId });
  }
  if (parent.taskId === taskId || hasRunningAgent(parent)) return undefined;
  const { state, completion } = parent;
  return refusal('PARENT_NOT_RUNNING', 409, `The parent attempt ${parentAttemptId} has no running agent.`, {
    parentAttemptId,
    state,
    ...(completion ? { status: completion.status } : {}),
  });
}

/** From the answer that the run is started on; what is queued, or refused, has no agent. */
const withAgent: readonly AttemptState[] = ['prepared', 'dispatched', 'running'];

/** Whether an attempt has an agent: started, and neither ended, said to have, nor taken from its worker. */
export const hasRunningAgent = ({ state, claim, reclaimed, completion }: AttemptRecord): boolean =>
  withAgent.includes(state) && !claim && !reclaimed && !completion;
