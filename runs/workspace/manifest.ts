import type { WorkspaceManifest, WorkspaceManifestInput } from '../../contracts/workspace-capabilities';
import type { FieldIssue } from '../../platform/errors/app-error';
import { digestOf, withDigest } from '../digest';
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

/** What a workspace says that nobody has described: that it is there. */
export const bareWorkspace = (workspaceId: string): WorkspaceManifest =>
  withDigest({
    schemaVersion: 'workspace-capabilities/v1' as const,
    workspaceId,
    name: 'Local workspace',
    capabilities: [],
  });
