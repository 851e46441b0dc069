import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { listPage } from '../query';
import { enforcementMode } from '../settings/settings';
import { webUrl } from '../url';

export const ceremonyKind = z.enum(['design_review', 'failure_retrospective']);
export type CeremonyKind = z.infer<typeof ceremonyKind>;

export const ceremonyStatus = z.enum(['pending', 'completed', 'cancelled']);

export const ceremonyId = z
  .string()
  .regex(/^ceremony_[0-9a-f]{12}$/, 'must look like ceremony_0123456789ab')
  .meta({ id: 'CeremonyId' });

const title = text(200, 1);

/** What the ceremony is about. `runId` is the attempt of a run. */
const target = z.strictObject({
  taskId: taskId.optional(),
  runId: slug.optional(),
  workflowId: slug.optional(),
  prUrl: webUrl.optional(),
  ciUrl: webUrl.optional(),
});

const participant = z.strictObject({
  role: z.enum(['coordinator', 'implementer', 'reviewer', 'security-owner', 'qa-owner', 'human-approver']),
  name: text(200, 1).optional(),
  agent: slug.optional(),
});

/** What has to come out of it; `action-items` and `github-issues` are those of the action items. */
export const requiredArtifact = z.enum([
  'decision-packet',
  'risk-list',
  'retrospective',
  'action-items',
  'github-issues',
]);

const artifact = z.strictObject({ kind: slug, title: title.optional(), body: text(50_000).default('') });

const actionItem = z.strictObject({
  title,
  priority: z.enum(['low', 'medium', 'high', 'critical']).optional(),
  issueUrl: webUrl.optional(),
});

const fields = {
  kind: ceremonyKind,
  enforcementMode: enforcementMode.default('warn'),
  title: title.optional(),
  reason: text(2000).default(''),
  target: target.default({}),
  /** What brought it about, e.g. `task.completion`. */
  trigger: text(200).default('manual'),
  dueAt: timestamp.optional(),
  participants: z.array(participant).max(50).default([]),
  requiredArtifacts: z.array(requiredArtifact).max(5).default([]),
};

/** A meeting of minds that a task may have to wait for (specification 2, Ceremony requirement). */
export const ceremony = z
  .object({
    id: ceremonyId,
    ...fields,
    // As it is stored: targets accepted earlier are returned, whatever the rules for URLs are now.
    target: target.extend({ prUrl: z.string().optional(), ciUrl: z.string().optional() }),
    status: ceremonyStatus,
    artifacts: z.array(artifact),
    actionItems: z.array(actionItem.extend({ issueUrl: z.string().optional() })),
    createdAt: timestamp,
    updatedAt: timestamp,
    completedAt: timestamp.optional(),
    completedBy: z.string().optional(),
  })
  .meta({ id: 'Ceremony' });
export type Ceremony = z.infer<typeof ceremony>;

export const ceremonyCreate = z.strictObject(fields).meta({ id: 'CeremonyCreate' });
export type CeremonyCreate = z.infer<typeof ceremonyCreate>;

/** `completedBy` defaults to the caller. */
export const ceremonyCompletion = z
  .strictObject({
    completedBy: text(200, 1).optional(),
    artifacts: z.array(artifact).max(20).default([]),
    actionItems: z.array(actionItem).max(100).default([]),
  })
  .meta({ id: 'CeremonyCompletion' });
export type CeremonyCompletion = z.infer<typeof ceremonyCompletion>;

export const ceremonyQuery = z
  .strictObject({
    status: ceremonyStatus.optional(),
    kind: ceremonyKind.optional(),
    taskId: taskId.optional(),
    ...listPage(100, 500),
  })
  .meta({ id: 'CeremonyQuery' });
export type CeremonyQuery = z.output<typeof ceremonyQuery>;
