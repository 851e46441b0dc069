import type { z } from 'zod';
import type { selectedWorkspace } from '../../../contracts/identity/workspace';
import { conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';

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
 * @throws AppError 409 `WORKSPACE_BOUND`
 */
export function switchTo(auth: AuthContext, workspaceId: string): Selected {
  if (auth.workspaceId === workspaceId) {
    return selected(auth);
  }
  const message = `This credential is for the workspace ${auth.workspaceId}. Use one that was made for the other workspace.`;
  throw conflict(message, { workspaceId: auth.workspaceId }, 'WORKSPACE_BOUND');
}
