import type { WorkspaceManifest, WorkspaceManifestInput } from '../../contracts/settings/capability';
import type { FieldIssue } from '../../platform/errors/app-error';
import { digestOf, withDigest } from '../../platform/json/digest';
import { secretIssues } from '../registry/manifest';

/** What is wrong with a manifest beyond its shape: a digest that is not its own, and what looks like a secret. */
export function workspaceIssues({ digest, ...body }: WorkspaceManifestInput): FieldIssue[] {
  const wrong = digest !== undefined && digest !== digestOf(body);
  return [
    ...(wrong ? [{ path: 'digest', message: 'is not the digest of this manifest', code: 'digest_mismatch' }] : []),
    ...secretIssues(body),
  ];
}

/** The manifest with its own digest. */
export const sealedWorkspace = ({ digest: _digest, ...body }: WorkspaceManifestInput): WorkspaceManifest =>
  withDigest(body);

/** The manifest of a workspace without a description: its id alone. */
export const bareWorkspace = (workspaceId: string): WorkspaceManifest =>
  withDigest({
    schemaVersion: 'workspace-capabilities/v1' as const,
    workspaceId,
    name: 'Local workspace',
    capabilities: [],
  });
