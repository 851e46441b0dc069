import type { IncomingHttpHeaders } from 'node:http';
import { localWorkspace } from '../../../contracts/common';
import { attemptHandleHeader, childrenPermission } from '../../../contracts/runs/attempt-handle';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { AdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import type { AttemptHandleStore } from '../../../stores/runs/attempt-handle-store';
import type { AttemptStore } from '../../../stores/runs/attempt-store';
import { hasRunningAgent } from '../../../stores/runs/launch/launch-parent';

interface HandleSources {
  attemptHandles: Pick<AttemptHandleStore, 'attemptOf'>;
  attempts: Pick<AttemptStore, 'get'>;
  admissionRequests: Pick<AdmissionRequestStore, 'get'>;
}

/** The handle a request presents, if it does. */
const presentedHandle = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[attemptHandleHeader.toLowerCase()];
  return Array.isArray(header) ? header[0] : header;
};

/**
 * Identifies which attempt's agent sent a request, by the handle in it; `undefined` when there is none, or that attempt has no
 * agent any more.
 */
export const attemptHandleAuthenticator = ({ attemptHandles, attempts, admissionRequests }: HandleSources) => ({
  presented: (headers: IncomingHttpHeaders): boolean => presentedHandle(headers) !== undefined,

  async authenticate(headers: IncomingHttpHeaders): Promise<AuthContext | undefined> {
    const handle = presentedHandle(headers);
    const attemptId = handle === undefined ? undefined : await attemptHandles.attemptOf(handle);
    const record = attemptId === undefined ? undefined : await attempts.get(attemptId);
    if (!record || !hasRunningAgent(record)) {
      return undefined;
    }
    const { _id, agent } = record;
    return {
      role: 'agent',
      userId: agent,
      workspaceId: (await admissionRequests.get(_id))?.workspaceId ?? localWorkspace,
      actorType: 'agent',
      authMethod: 'attempt-handle',
      tokenName: _id,
      attemptId: _id,
      permissions: [childrenPermission],
      actor: `agent:${_id}`,
    };
  },
});
