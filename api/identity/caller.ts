import type { Permission } from '../../contracts/permissions';
import { memberOf, type RosterMember } from '../../domain/identity/roster';
import { AppError, assertFound, conflict } from '../../platform/errors/app-error';
import type { AuthContext } from '../../platform/http/auth/auth';
import type { WorkspaceRecord } from '../../stores/identity/workspace-store';
import type { ApiContext } from '../context';
import { workspaceHeader } from '../workspace-header';

type Workspaces = Pick<ApiContext, 'workspaces'>;

/** Whether the caller administers the installation, with a key of its configuration or as its owner. */
export const isInstallationAdmin = (auth: AuthContext): boolean => auth.administersInstallation === true;

/** Whether a person calls, and no program in its own name. */
export const isPerson = ({ actorType }: AuthContext): boolean => actorType === 'user';

/** Whether the caller may act in another workspace of its user than the one it is in. */
export const canSwitch = (auth: AuthContext): boolean => auth.authMethod === 'session';

/** @throws AppError 403 */
export function assertPerson(auth: AuthContext): void {
  if (!isPerson(auth) && !isInstallationAdmin(auth)) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: 'This is for people: sign in, or use the API token of a user.',
      details: { required: ['admin:manage'], actorType: auth.actorType },
    });
  }
}

/** @throws AppError 403 */
export function assertInstallationAdmin(auth: AuthContext): void {
  if (!isInstallationAdmin(auth)) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: 'This is for administrators of the installation, who have a key of its configuration.',
      details: { required: ['admin:manage'], workspaceId: auth.workspaceId },
    });
  }
}

/**
 * The workspace of a path, where it is the one that the caller acts in. All others are as if they were not there.
 *
 * @throws AppError 404; 409 `WORKSPACE_NOT_SELECTED` for one that the caller could select
 */
export async function workspaceOf(
  { workspaces }: Workspaces,
  auth: AuthContext,
  workspaceId: string,
): Promise<WorkspaceRecord> {
  const isOwn = auth.workspaceId === workspaceId;
  const isKnown = isOwn || isInstallationAdmin(auth) || canSwitch(auth);
  const record = isKnown ? await workspaces.get(workspaceId) : undefined;
  const isSelectable =
    isInstallationAdmin(auth) || (record !== undefined && memberOf(record, auth.userId) !== undefined);
  const available = isOwn || isSelectable ? record : undefined;
  assertFound(available, 'workspace', workspaceId);
  if (!isOwn) {
    const how = canSwitch(auth) ? 'Switch to this one first' : `Name this one in ${workspaceHeader}`;
    const message = `Another workspace is selected, ${auth.workspaceId}. ${how}.`;
    throw conflict(message, { workspaceId, selected: auth.workspaceId }, 'WORKSPACE_NOT_SELECTED');
  }
  return available;
}

/**
 * The caller's membership of a workspace, which credentials are made for.
 *
 * @throws AppError 409 `NOT_A_MEMBER`
 */
export function ownMembershipIn(workspace: WorkspaceRecord, auth: AuthContext): RosterMember {
  const member = memberOf(workspace, auth.userId);
  if (member?.status !== 'active') {
    const message = 'Credentials are made by active members of the workspace. Have yourself invited first.';
    throw conflict(message, { workspaceId: workspace.id, userId: auth.userId }, 'NOT_A_MEMBER');
  }
  return member;
}

/** No caller gives others more than it has. @throws AppError 403 */
export function assertMayGrant(auth: AuthContext, granted: readonly Permission[]): void {
  const missing = granted.filter((one) => !auth.permissions.includes(one));
  if (missing.length > 0) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `This gives permissions that you do not have: ${missing.join(', ')}.`,
      details: { required: missing, currentRole: auth.role, currentPermissions: auth.permissions },
    });
  }
}
