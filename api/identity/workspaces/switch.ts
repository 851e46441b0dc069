import type { z } from 'zod';
import type { selectedWorkspace } from '../../../contracts/identity/workspace';
import { rolePermissions } from '../../../contracts/permissions';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';

type Selected = z.infer<typeof selectedWorkspace>;

const selected = ({ workspaceId, membershipId, role, permissions }: AuthContext): Selected => ({
  ...compact({ membershipId }),
  workspaceId,
  role,
  permissions: [...permissions],
});

/**
 * Selects a workspace for the requests that follow. Only a session has a selection: every other credential is of one workspace,
 * and which others there are is not for it to find out.
 *
 * @throws AppError 404 where the user of a session is no active member, 409 `WORKSPACE_BOUND` for other credentials
 */
export async function switchTo(
  { sessions, workspaces }: Pick<ApiContext, 'sessions' | 'workspaces'>,
  auth: AuthContext,
  workspaceId: string,
): Promise<Selected> {
  const { sessionId, userId } = auth;
  if (sessionId !== undefined) {
    const membership = await workspaces.membership(workspaceId, userId);
    const member = membership?.status === 'active' ? membership : undefined;
    assertFound(member, 'workspace', workspaceId);
    await sessions.selectWorkspace(sessionId, workspaceId);
    const { id: membershipId, role } = member;
    return { workspaceId, membershipId, role, permissions: [...rolePermissions[role]] };
  }
  if (auth.workspaceId === workspaceId) {
    return selected(auth);
  }
  const message = `This credential is for the workspace ${auth.workspaceId}. Use one that was made for the other workspace.`;
  throw conflict(message, { workspaceId: auth.workspaceId }, 'WORKSPACE_BOUND');
}
