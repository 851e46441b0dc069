import { z } from 'zod';
import { digest, objectName, slug, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';

/** What a file of a workspace does to an agent that finds it there. */
export const trustEntryKind = z.enum(['instructions', 'configuration', 'tools', 'hooks']);
export type TrustEntryKind = z.infer<typeof trustEntryKind>;

/** One file that agents load by themselves, with its exact content. */
const trustEntry = z.object({
  path: z.string(),
  kind: trustEntryKind,
  /** The git object its content is. */
  objectId: objectName,
  /** Set for a symbolic link: the file in the worktree that it leads to, whose content counts. */
  linksTo: z.string().optional(),
});
export type TrustEntry = z.infer<typeof trustEntry>;

/** Everything in a workspace that agents load by themselves. The digest is of the entries: other content, other digest. */
export const workspaceInventory = z.object({
  digest,
  entries: z.array(trustEntry),
  /** Entries that could not be pinned down, such as a link that leads outside; with any of it nothing is trusted. */
  unpinned: z.array(z.string()),
});
export type WorkspaceInventory = z.infer<typeof workspaceInventory>;

export const trustDecisionId = z.string().regex(/^trust_[0-9a-f]{32}$/);

/**
 * One decision about one inventory of one repository. Never changed: the next one supersedes it, and both stay
 * (specification 2, Workspace execution trust).
 */
export const trustDecision = z
  .object({
    schemaVersion: z.literal('workspace-trust-decision/v1'),
    id: trustDecisionId,
    repository: slug,
    inventoryDigest: digest,
    /** 1, 2, 3 … for each inventory of a repository. */
    sequence: z.number().int().min(1),
    decision: z.enum(['trusted', 'rejected', 'revoked']),
    /** The decision before, which does not count any more. */
    supersedes: trustDecisionId.nullable(),
    /** The paths it was about. */
    paths: z.array(z.string()),
    reason: z.string(),
    actor: z.string(),
    /** The task through which it was made. */
    taskId,
    decidedAt: timestamp,
  })
  .meta({ id: 'WorkspaceTrustDecision' });
export type TrustDecision = z.infer<typeof trustDecision>;

/** `not-required`: no file needs trust. `not-evaluated`: not checked. */
export const trustState = z.enum(['not-evaluated', 'not-required', 'undecided', 'trusted', 'rejected', 'revoked']);
export type TrustState = z.infer<typeof trustState>;

/** `GET /api/agents/:taskId/workspace-trust`. */
export const workspaceTrust = z
  .object({
    schemaVersion: z.literal('workspace-trust/v1'),
    taskId,
    repository: slug.nullable(),
    state: trustState,
    inventory: workspaceInventory.nullable(),
    /** The decision that counts for the current inventory. */
    decision: trustDecision.nullable(),
    /** Decisions about this repository, the newest first. */
    history: z.array(trustDecision),
    nextCursor,
  })
  .meta({ id: 'WorkspaceTrust' });
export type WorkspaceTrust = z.infer<typeof workspaceTrust>;

export const trustQuery = z.strictObject(listPage(50, 200));

const reason = text(1_000, 1);

/** `inventoryDigest` is the reviewed one: what has changed since is not decided about. */
export const trustDecisionRequest = z
  .strictObject({ inventoryDigest: digest, decision: z.enum(['trusted', 'rejected']), reason })
  .meta({ id: 'WorkspaceTrustDecisionRequest' });
export type TrustDecisionRequest = z.infer<typeof trustDecisionRequest>;

export const trustRevocation = z
  .strictObject({ inventoryDigest: digest, reason })
  .meta({ id: 'WorkspaceTrustRevocation' });
