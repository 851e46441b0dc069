import { z } from 'zod';
import { localUser } from '../../../contracts/identity/user';
import {
  selectedWorkspace,
  type Workspace,
  workspace,
  workspaceCreate,
  workspaceParams,
  workspacePatch,
  workspaceQuery,
  workspaceSwitch,
} from '../../../contracts/identity/workspace';
import { memberOf } from '../../../domain/identity/roster';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { operationBytes } from '../../../platform/operations/operation';
import { newMembershipId, type WorkspaceRecord } from '../../../stores/identity/workspace-store';
import type { ApiContext } from '../../context';
import { assertRevision, setRevision, statedRevision } from '../../revisions';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertInstallationAdmin, canSwitch, isInstallationAdmin, workspaceOf } from '../caller';
import { memberRoutes } from './routes.members';
import { switchTo } from './switch';

const tag = 'identity';
const type = 'workspaces';

type WorkspaceContext = Pick<ApiContext, 'sessions' | 'users' | 'workspaces' | 'recordAudit' | 'activity'>;

/** Workspaces, and which of them the caller acts in. */
export function workspaceRoutes(routes: Routes, context: WorkspaceContext): void {
  const { users, workspaces } = context;

  routes.add(
    {
      method: 'get',
      path: '/identity/workspaces',
      operationId: 'listWorkspaces',
      summary: 'List the workspaces that the caller can act in',
      tag,
      permission: 'workspace:read',
      query: workspaceQuery,
      response: z.array(workspace),
    },
    async ({ auth, query }) => {
      const available = await availableTo(context, auth);
      const positionOf = ({ id }: WorkspaceRecord) => ({ key: id, id });
      return slicePage(available, query, { positionOf }).map((record) => present(record, auth));
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/identity/workspaces/:workspaceId',
      operationId: 'getWorkspace',
      summary: 'Read a workspace',
      tag,
      permission: 'workspace:read',
      params: workspaceParams,
      response: workspace,
      errors: [409],
    },
    async ({ auth, params: { workspaceId: id } }, ctx) => {
      const record = await workspaceOf(context, auth, id);
      setRevision(ctx, { type, id, revision: record.revision });
      return present(record, auth);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/identity/workspaces',
      operationId: 'createWorkspace',
      summary: 'Create a workspace with the owner of the installation as its administrator',
      tag,
      permission: 'admin:manage',
      body: workspaceCreate,
      response: workspace,
      status: 201,
      errors: [409],
      audit: (_request, { id, name }) => ({ action: 'workspace.create', resource: id, details: { name } }),
    },
    async ({ auth, body }, ctx) => {
      assertInstallationAdmin(auth);
      const id = `ws-${operationBytes('ws', 6).toString('hex')}`;
      const owner = { id: newMembershipId(), userId: localUser };
      await users.noteWorkspace(localUser, id);
      const record = await workspaces.create(id, plainField(body.name, 'name'), owner);
      setRevision(ctx, { type, id, revision: record.revision });
      return present(record, auth);
    },
  );

  routes.add(
    {
      method: 'patch',
      path: '/identity/workspaces/:workspaceId',
      operationId: 'updateWorkspace',
      summary: 'Change the name of a workspace',
      tag,
      permission: 'admin:manage',
      params: workspaceParams,
      body: workspacePatch,
      response: workspace,
      errors: [409],
      audit: ({ params, body }) => ({
        action: 'workspace.update',
        resource: params.workspaceId,
        details: { name: body.name },
      }),
    },
    async ({ auth, params: { workspaceId: id }, body, header }, ctx) => {
      await workspaceOf(context, auth, id);
      const name = plainField(body.name, 'name');
      const stated = { header, ...(body.expectedRevision !== undefined && { bodyRevision: body.expectedRevision }) };
      const expectedRevision = await statedRevision({ type, id, current: () => workspaces.get(id) }, stated);
      const record = await workspaces.rename(id, (current) => {
        assertRevision('workspace', current, { expectedRevision, shown: present(current, auth) });
        return name;
      });
      setRevision(ctx, { type, id, revision: record.revision });
      return present(record, auth);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/identity/workspaces/switch',
      operationId: 'switchWorkspace',
      summary: 'Set the workspace that the session of the caller acts in',
      tag,
      permission: 'workspace:read',
      ownAccount: true,
      body: workspaceSwitch,
      response: selectedWorkspace,
      errors: [404, 409],
    },
    ({ auth, body: { workspaceId } }) => switchTo(context, auth, workspaceId),
  );

  memberRoutes(routes, context);
}

/** All workspaces for administrators of the installation, those of its memberships for a session, else the one of the credential. */
async function availableTo({ users, workspaces }: WorkspaceContext, auth: AuthContext): Promise<WorkspaceRecord[]> {
  if (isInstallationAdmin(auth)) {
    return workspaces.list();
  }
  const ids = canSwitch(auth) ? await users.workspacesOf(auth.userId) : [auth.workspaceId];
  const records = await Promise.all(ids.map((id) => workspaces.get(id)));
  return records.filter(
    (record) => record !== undefined && memberOf(record, auth.userId) !== undefined,
  ) as WorkspaceRecord[];
}

function present(record: WorkspaceRecord, auth: AuthContext): Workspace {
  const { id, name, revision, createdAt, updatedAt } = record;
  const member = memberOf(record, auth.userId);
  return {
    id,
    name,
    revision,
    createdAt,
    updatedAt,
    ...(member && { membership: { membershipId: member.id, role: member.role, status: member.status } }),
  };
}
