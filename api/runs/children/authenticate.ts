import type { IncomingHttpHeaders } from 'node:http';
import { attemptHandleHeader, childrenPermission } from '../../../contracts/runs/attempt-handle';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { type AttemptHandleStore, workspaceOfHandle } from '../../../stores/runs/attempt-handle-store';
import type { AttemptStore } from '../../../stores/runs/attempt-store';
import { hasRunningAgent } from '../../../stores/runs/launch/launch-parent';

/** What knows the handles of one workspace. */
interface HandleSources {
  attemptHandles: Pick<AttemptHandleStore, 'attemptOf'>;
  attempts: Pick<AttemptStore, 'get'>;
}

/** The handle a request presents, if it does. */
const presentedHandle = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[attemptHandleHeader.toLowerCase()];
  return Array.isArray(header) ? header[0] : header;
};

/**
 * Identifies which attempt's agent sent a request, by the handle in it; `undefined` when there is none, or that attempt has no
 * agent any more.
 *
 * @param sourcesOf of the workspace that a handle names; undefined when there is none
 */
export const attemptHandleAuthenticator = (sourcesOf: (workspaceId: string) => Promise<HandleSources | undefined>) => ({
  presented: (headers: IncomingHttpHeaders): boolean => presentedHandle(headers) !== undefined,

  async authenticate(headers: IncomingHttpHeaders): Promise<AuthContext | undefined> {
    const handle = presentedHandle(headers);
    const workspaceId = handle === undefined ? undefined : workspaceOfHandle(handle);
    const sources = workspaceId === undefined ? undefined : await sourcesOf(workspaceId);
    if (handle === undefined || workspaceId === undefined || !sources) {
      return undefined;
    }
    const attemptId = await sources.attemptHandles.attemptOf(handle);
    const record = attemptId === undefined ? undefined : await sources.attempts.get(attemptId);
    if (!record || !hasRunningAgent(record)) {
      return undefined;
    }
    const { _id, agent } = record;
    return {
      role: 'agent',
      userId: agent,
      workspaceId,
      actorType: 'agent',
      authMethod: 'attempt-handle',
      tokenName: _id,
      attemptId: _id,
      permissions: [childrenPermission],
      actor: `agent:${_id}`,
    };
  },
});
