import type { AdmissionRequest } from '../../../domain/admission/request';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { AdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

/** The attempt whose handle was presented. @throws Error on a route that takes no handle */
export function ancestorOf({ attemptId }: Pick<AuthContext, 'attemptId'>): string {
  if (attemptId === undefined) {
    throw new Error('This route accepts only an attempt handle.');
  }
  return attemptId;
}

/**
 * A descendant of the attempt whose handle was presented, retries of its children included.
 *
 * @throws AppError 404 for every other attempt, whether it exists or not
 */
export async function descendantOf(
  { attempts, admissionRequests }: Pick<WorkflowContext, 'attempts' | 'admissionRequests'>,
  auth: Pick<AuthContext, 'attemptId'>,
  attemptId: string,
): Promise<{ record: AttemptRecord; request: AdmissionRequest }> {
  const request = await admissionRequests.get(attemptId);
  const record = request && (await attempts.get(attemptId));
  if (!request || !record || !(await descends(admissionRequests, request, ancestorOf(auth)))) {
    throw new AppError('NOT_FOUND', {
      status: 404,
      message: `No descendant of this attempt has the id ${attemptId}.`,
      details: { attemptId },
    });
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
