import { AppError } from '../../platform/errors/app-error';
import type { AuthContext } from '../../platform/http/auth';
import type { AdmissionRequest } from '../../runs/admission/request';
import type { AdmissionRequestStore } from '../../stores/admission-request-store';
import type { AttemptRecord } from '../../stores/attempt-store';
import type { RunsContext } from '../runs/context';

/** The attempt whose handle was presented. @throws Error on a route that takes no handle */
export function ancestorOf({ attemptId }: Pick<AuthContext, 'attemptId'>): string {
  if (attemptId === undefined) throw new Error('This route takes the handle of an attempt, and nothing else.');
  return attemptId;
}

/**
 * A descendant of the attempt whose handle was presented, retries of its children included.
 *
 * @throws AppError 404 for every other attempt, whether it exists or not
 */
export async function descendantOf(
  { attempts, admissionRequests }: Pick<RunsContext, 'attempts' | 'admissionRequests'>,
  auth: Pick<AuthContext, 'attemptId'>,
  attemptId: string,
): Promise<{ record: AttemptRecord; request: AdmissionRequest }> {
  const request = await admissionRequests.get(attemptId);
  const record = request && (await attempts.get(attemptId));
  if (!request || !record || !(await descends(admissionRequests, request, ancestorOf(auth)))) {
    throw new AppError('NOT_FOUND', 404, `No descendant of this attempt has the id ${attemptId}.`, { attemptId });
  }
  return { record, request };
}

/** Follows the parents upwards; their number is the depth. */
async function descends(
  requests: Pick<AdmissionRequestStore, 'get'>,
  { rootObjectiveId, parentNodeId }: AdmissionRequest,
  ancestor: string,
): Promise<boolean> {
  let parent = parentNodeId;
  while (parent !== null && parent !== ancestor) {
    const above = await requests.get(parent);
    parent = above?.rootObjectiveId === rootObjectiveId ? above.parentNodeId : null;
  }
  return parent === ancestor;
}
