import type { IncomingHttpHeaders } from 'node:http';
import { attemptHandleHeader, childrenPermission } from '../../contracts/attempt-handle';
import { localWorkspace } from '../../contracts/common';
import type { AuthContext } from '../../platform/http/auth';
import type { AdmissionRequestStore } from '../../stores/admission-request-store';
import type { AttemptHandleStore } from '../../stores/attempt-handle-store';
import type { AttemptStore } from '../../stores/attempt-store';
import { hasRunningAgent } from '../../stores/launch-parent';

interface HandleSources {
  handles: Pick<AttemptHandleStore, 'attemptOf'>;
  attempts: Pick<AttemptStore, 'get'>;
  requests: Pick<AdmissionRequestStore, 'get'>;
}

/** The handle a request presents, if it does. */
const presentedHandle = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[attemptHandleHeader.toLowerCase()];
  return Array.isArray(header) ? header[0] : header;
};

/**
 * Tells which attempt's agent sent a request, by the handle in it; `undefined` when there is none, or that attempt has no
 * agent any more.
 */
export const attemptHandleAuthenticator = ({ handles, attempts, requests }: HandleSources) => ({
  presented: (headers: IncomingHttpHeaders): boolean => presentedHandle(headers) !== undefined,

  async authenticate(headers: IncomingHttpHeaders): Promise<AuthContext | undefined> {
    const handle = presentedHandle(headers);
    const attemptId = handle === undefined ? undefined : await handles.attemptOf(handle);
    const record = attemptId === undefined ? undefined : await attempts.get(attemptId);
    if (!record || !hasRunningAgent(record)) return undefined;
    const { _id, agent } = record;
    return {
      role: 'agent',
      userId: agent,
      workspaceId: (await requests.get(_id))?.workspaceId ?? localWorkspace,
      actorType: 'agent',
      authMethod: 'attempt-handle',
      tokenName: _id,
      attemptId: _id,
      permissions: [childrenPermission],
      actor: `agent:${_id}`,
    };
  },
});
