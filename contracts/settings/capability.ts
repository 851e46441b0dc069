import { z } from 'zod';
import { digest, revision, slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { serviceUrl } from '../url';
import { documentIssue } from './team-roster';

/** A service of this workspace for others, in terms both sides agree on. */
const offer = z.strictObject({
  id: slug,
  name: text(100, 1),
  description: text(1000).optional(),
  /** Types of tasks it takes; any when absent. */
  taskTypes: z.array(text(50, 1)).min(1).max(100).optional(),
  /** What a task has to bring, and what comes back. */
  inputs: z.array(text(200, 1)).max(50).optional(),
  outputs: z.array(text(200, 1)).max(50).optional(),
});

const shape = {
  schemaVersion: z.literal('workspace-capabilities/v1').default('workspace-capabilities/v1'),
  workspaceId: slug,
  name: text(100, 1),
  description: text(1000).optional(),
  /** Where the workspace is reached; without a user name, a password or a query. */
  endpoint: serviceUrl.optional(),
  capabilities: z
    .array(offer)
    .max(200)
    .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'two capabilities have the same id'),
};

/** The capabilities a workspace declares. The digest is always computed again. */
export const workspaceManifestInput = z
  .strictObject({ ...shape, digest: digest.optional() })
  .meta({ id: 'WorkspaceManifestInput' });
export type WorkspaceManifestInput = z.infer<typeof workspaceManifestInput>;

export const workspaceManifest = z.strictObject({ ...shape, digest }).meta({ id: 'WorkspaceManifest' });
export type WorkspaceManifest = z.infer<typeof workspaceManifest>;

/** A workspace whose manifest an operator has reviewed and trusts. */
export const trustedWorkspace = z
  .object({
    workspaceId: slug,
    manifest: workspaceManifest,
    trustedAt: timestamp,
    trustedBy: z.string(),
    revision,
  })
  .meta({ id: 'TrustedWorkspace' });
export type TrustedWorkspace = z.infer<typeof trustedWorkspace>;

export const trustedWorkspaces = z
  .object({ workspaces: z.array(trustedWorkspace), nextCursor })
  .meta({ id: 'TrustedWorkspaces' });

export const workspaceValidation = z
  .object({ valid: z.boolean(), manifest: workspaceManifest.nullable(), issues: z.array(documentIssue) })
  .meta({ id: 'WorkspaceValidation' });
