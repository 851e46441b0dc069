import { localWorkspace } from '../../../contracts/common';
import {
  type WorkspaceManifest,
  workspaceManifest,
  type WorkspaceManifestInput,
  workspaceManifestInput,
  workspaceValidation,
} from '../../../contracts/settings/capability';
import { documentToValidate, exportQuery, importedDocument } from '../../../contracts/settings/team-roster';
import { bareWorkspace, sealedWorkspace, workspaceIssues } from '../../../domain/workspaces/manifest';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkspaceCapabilityStore } from '../../../stores/settings/capability-store';
import { importedValue, sendDocument, validateDocument } from '../../documents';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { checkedManifest } from './checked';

const tag = 'workspace-capabilities';
const setting = settingResource('workspace-capabilities');

/** This workspace's own manifest; a minimal one, when none was stored. */
export async function localManifest({ manifest }: Pick<WorkspaceCapabilityStore, 'manifest'>) {
  const { value, revision } = await manifest.read();
  return { value: value ?? bareWorkspace(localWorkspace), revision };
}

/** The manifest of this workspace. */
export function manifestRoutes(
  routes: Routes,
  { workspaceCapabilities }: { workspaceCapabilities: WorkspaceCapabilityStore },
): void {
  const local = () => localManifest(workspaceCapabilities);
  const replace = async (
    ctx: HttpContext,
    sent: WorkspaceManifestInput,
    header: (name: string) => string | undefined,
  ): Promise<WorkspaceManifest> => {
    const expected = await statedRevision({ ...setting, current: local }, { header });
    const { value, revision } = await workspaceCapabilities.manifest.replace(checkedManifest(sent), expected);
    setRevision(ctx, { ...setting, revision });
    return value;
  };

  routes.add(
    {
      method: 'get',
      path: '/workspace-capabilities/manifest',
      operationId: 'getWorkspaceManifest',
      summary: 'Read the capability manifest of this workspace',
      tag,
      permission: 'workspace:read',
      response: workspaceManifest,
    },
    async (_input, ctx) => {
      const { value, revision } = await local();
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/workspace-capabilities/manifest',
      operationId: 'replaceWorkspaceManifest',
      summary: 'Replace the capability manifest of this workspace',
      tag,
      permission: 'settings:write',
      body: workspaceManifestInput,
      response: workspaceManifest,
      errors: [409],
      audit: () => ({ action: 'workspace-manifest.update' }),
    },
    ({ body, header }, ctx) => replace(ctx, body, header),
  );

  routes.add(
    {
      method: 'post',
      path: '/workspace-capabilities/manifest/validate',
      operationId: 'validateWorkspaceManifest',
      summary: 'Validate a manifest without storing it',
      tag,
      permission: 'workspace:read',
      body: documentToValidate,
      response: workspaceValidation,
    },
    async ({ body }) => {
      const { value, issues: unshaped } = validateDocument(workspaceManifestInput, body);
      if (!value) {
        return { valid: false, manifest: null, issues: unshaped };
      }
      const issues = workspaceIssues(value).map(({ path, message, code = 'invalid' }) => ({
        severity: 'error' as const,
        path,
        code,
        message,
      }));
      const valid = issues.length === 0;
      return { valid, manifest: valid ? sealedWorkspace(value) : null, issues };
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/workspace-capabilities/manifest/import',
      operationId: 'importWorkspaceManifest',
      summary: 'Import a capability manifest from YAML or JSON',
      tag,
      permission: 'settings:write',
      body: importedDocument,
      response: workspaceManifest,
      errors: [409],
      audit: () => ({ action: 'workspace-manifest.import' }),
    },
    ({ body, header }, ctx) => replace(ctx, importedValue(workspaceManifestInput, body), header),
  );

  routes.add(
    {
      method: 'get',
      path: '/workspace-capabilities/manifest/export',
      operationId: 'exportWorkspaceManifest',
      summary: 'Export the capability manifest as YAML or JSON',
      tag,
      permission: 'workspace:read',
      query: exportQuery,
      response: workspaceManifest,
      otherMediaTypes: ['application/yaml'],
    },
    async ({ query }, ctx) => {
      sendDocument(ctx, 'workspace-capabilities', { value: (await local()).value, format: query.format });
      return undefined;
    },
  );
}
