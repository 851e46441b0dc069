import type { z } from 'zod';
import type { selectedWorkspace } from '../../../contracts/identity/workspace';
import { rolePermissions } from '../../../contracts/permissions';
import { memberOf } from '../../../domain/identity/roster';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { workspaceHeader } from '../../workspace-header';
import { isInstallationAdmin } from '../caller';

type Selected = z.infer<typeof selectedWorkspace>;

/**
 * Selects a workspace for the requests that follow. Only a session has a selection: every other credential is of one workspace,
 * and which others there are is not for it to find out.
 *
 * @throws AppError 403 while the membership is suspended; 404 without one; 409 `WORKSPACE_BOUND`, `SESSION_ENDED`
 */
export async function switchTo(
  { sessions, workspaces }: Pick<ApiContext, 'sessions' | 'workspaces'>,
  auth: AuthContext,
  workspaceId: string,
): Promise<Selected> {
  const { sessionId, userId, membershipId, role, permissions } = auth;
  if (auth.workspaceId === workspaceId) {
    return { ...compact({ membershipId }), workspaceId, role, permissions: [...permissions] };
  }
  if (sessionId === undefined) {
    throw bound(auth);
  }
  const record = await workspaces.get(workspaceId);
  const member = record && memberOf(record, userId);
  assertFound(member, 'workspace', workspaceId);
  if (member.status !== 'active') {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: 'Your membership of this workspace is suspended.',
      details: { required: ['workspace:read'], workspaceId, membershipId: member.id },
    });
  }
  if (!(await sessions.selectWorkspace(sessionId, workspaceId))) {
    throw conflict('The session has ended. Sign in again.', { sessionId }, 'SESSION_ENDED');
  }
  return { workspaceId, membershipId: member.id, role: member.role, permissions: [...rolePermissions[member.role]] };
}

function bound(auth: AuthContext): AppError {
  const { workspaceId } = auth;
  const how = isInstallationAdmin(auth)
    ? `Name the other one in ${workspaceHeader}.`
    : 'Use one that was made for the other workspace.';
  return conflict(`This credential acts in the workspace ${workspaceId}. ${how}`, { workspaceId }, 'WORKSPACE_BOUND');
}
