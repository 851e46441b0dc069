import type { IncomingHttpHeaders } from 'node:http';
import { attemptHandleHeader, childrenPermission } from '../../../contracts/runs/attempt-handle';
import { toolsPermission } from '../../../contracts/runs/launch/tool-bridge';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { HandleAuthenticator } from '../../../platform/http/routing/routes';
import {
  type AttemptHandleStore,
  attemptOfHandle,
  type HandleKind,
  workspaceOfHandle,
} from '../../../stores/runs/attempt-handle-store';
import type { AttemptStore } from '../../../stores/runs/attempt-store';
import { hasRunningAgent } from '../../../stores/runs/launch/launch-parent';

/** What knows the handles of one workspace. */
interface HandleSources {
  attemptHandles: Pick<AttemptHandleStore, 'verify'>;
  toolBridgeHandles: Pick<AttemptHandleStore, 'verify'>;
  attempts: Pick<AttemptStore, 'get'>;
}

/** The handle a request presents, if it does. */
const presentedHandle = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers[attemptHandleHeader.toLowerCase()];
  return Array.isArray(header) ? header[0] : header;
};

/** What a kind of handle is presented as, and what it permits. */
interface PresentedAs {
  kind: HandleKind;
  permission: string;
  authMethod: 'attempt-handle' | 'tool-bridge';
  presented: (headers: IncomingHttpHeaders) => string | undefined;
  handles: (sources: HandleSources) => Pick<AttemptHandleStore, 'verify'>;
}

const children: PresentedAs = {
  kind: 'children',
  permission: childrenPermission,
  authMethod: 'attempt-handle',
  presented: presentedHandle,
  handles: ({ attemptHandles }) => attemptHandles,
};
const tools: PresentedAs = {
  kind: 'tools',
  permission: toolsPermission,
  authMethod: 'tool-bridge',
  presented: ({ authorization }) => /^Bearer (rbtb_[\w-]{1,200})$/i.exec(authorization ?? '')?.[1],
  handles: ({ toolBridgeHandles }) => toolBridgeHandles,
};

type SourcesOf = (workspaceId: string) => Promise<HandleSources | undefined>;

/** Identifies the agents that present handles of their attempts, each kind on the routes that take it. */
export const handleAuthenticators = (sourcesOf: SourcesOf) => ({
  'attempt-handle': handleAuthenticator(children, sourcesOf),
  'tool-bridge': handleAuthenticator(tools, sourcesOf),
});

/**
 * Identifies which attempt's agent sent a request, by the handle in it; `undefined` when there is none, or that attempt has no
 * agent any more.
 *
 * @param sourcesOf of the workspace that a handle names; undefined when there is none
 */
const handleAuthenticator = (
  { kind, permission, authMethod, presented, handles }: PresentedAs,
  sourcesOf: SourcesOf,
): HandleAuthenticator => ({
  presented: (headers) => presented(headers) !== undefined,

  async authenticate(headers: IncomingHttpHeaders): Promise<AuthContext | undefined> {
    const handle = presented(headers);
    const workspaceId = handle === undefined ? undefined : workspaceOfHandle(handle, kind);
    const sources = workspaceId === undefined ? undefined : await sourcesOf(workspaceId);
    if (handle === undefined || workspaceId === undefined || !sources) {
      return undefined;
    }
    const attemptId = attemptOfHandle(handle, kind);
    const record = attemptId === undefined ? undefined : await sources.attempts.get(attemptId);
    if (!record || !hasRunningAgent(record) || !(await handles(sources).verify(handle, record.supervisor))) {
      return undefined;
    }
    const { _id, agent } = record;
    return {
      role: 'agent',
      userId: agent,
      workspaceId,
      actorType: 'agent',
      authMethod,
      tokenName: _id,
      attemptId: _id,
      permissions: [permission],
      actor: `agent:${_id}`,
    };
  },
});
