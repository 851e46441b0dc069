import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import { trustedWorkspace, trustedWorkspaces, workspaceManifestInput } from '../../../contracts/settings/capability';
import { conflict, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { checkedManifest } from './checked';
import { localManifest, manifestRoutes } from './routes.manifest';

const tag = 'workspace-capabilities';
const listQuery = z.strictObject(listPage(1000, 1000));

/** The capabilities that this workspace declares, and whose declarations it trusts. */
export function workspaceCapabilityRoutes(routes: Routes, context: Pick<ApiContext, 'workspaceCapabilities'>): void {
  const { workspaceCapabilities } = context;
  manifestRoutes(routes, context);

  const list = async ({ query }: { query: PageRequest }) => {
    const trusted = await workspaceCapabilities.listTrusted();
    const page = slicePage(trusted, query, { positionOf: ({ workspaceId: id }) => ({ key: id, id }) });
    return page.answer({ workspaces: page.items });
  };
  const listing = {
    method: 'get',
    summary: 'List trusted workspaces',
    tag,
    permission: 'workspace:read',
    query: listQuery,
    response: trustedWorkspaces,
  } as const;
  routes.add({ ...listing, path: '/workspace-capabilities/trusted', operationId: 'listTrustedWorkspaces' }, list);
  // Existing clients expect it beside the manifest.
  routes.add(
    { ...listing, path: '/workspace-capabilities/manifest/trusted', operationId: 'listTrustedManifests' },
    list,
  );

  routes.add(
    {
      method: 'post',
      path: '/workspace-capabilities/trusted',
      operationId: 'trustWorkspace',
      summary: 'Trust another workspace, or its current manifest',
      tag,
      permission: 'settings:write',
      body: workspaceManifestInput,
      response: trustedWorkspace,
      status: 201,
      errors: [409],
      audit: (_request, { workspaceId }) => ({ action: 'workspace.trust', resource: workspaceId }),
    },
    async ({ body, auth }) => {
      const { value: own } = await localManifest(workspaceCapabilities);
      if (body.workspaceId === own.workspaceId) {
        throw conflict('This is the local workspace; it needs no trust.', { workspaceId: body.workspaceId });
      }
      return workspaceCapabilities.trust(checkedManifest(body), auth.actor);
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/workspace-capabilities/trusted/:workspaceId',
      operationId: 'distrustWorkspace',
      summary: 'Revoke trust in a workspace',
      tag,
      permission: 'settings:write',
      params: z.strictObject({ workspaceId: slug }),
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'workspace.distrust', resource: params.workspaceId }),
    },
    async ({ params }) => {
      if (!(await workspaceCapabilities.distrust(params.workspaceId))) {
        throw notFound('trusted workspace', params.workspaceId);
      }
      return undefined;
    },
  );
}
