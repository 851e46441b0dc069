import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { taskPriority } from '../tasks/task';

const names = z.array(text(200, 1)).min(1).max(100);
const priorities = z.array(taskPriority).min(1).max(4);

/** Which tasks a delegation is about: all, those of projects, or those of priorities. */
export const delegationScope = z
  .strictObject({
    type: z.enum(['all', 'project', 'priority']),
    projectIds: names.optional(),
    priorities: priorities.optional(),
  })
  .superRefine(({ type, ...lists }, ctx) => {
    for (const [name, needed] of [['projectIds', 'project'] as const, ['priorities', 'priority'] as const]) {
      if ((lists[name] === undefined) === (type === needed)) {
        const message = type === needed ? `is required with the type ${type}` : `is not allowed with the type ${type}`;
        ctx.addIssue({ code: 'custom', path: [name], message });
      }
    }
  })
  .meta({ id: 'DelegationScope' });

const fields = {
  /** The name of the key of the agent that decides meanwhile. */
  delegateAgent: slug,
  expires: timestamp,
  scope: delegationScope,
  excludePriorities: priorities.optional(),
  excludeTags: names.optional(),
};

export const delegationCreate = z
  .strictObject({ ...fields, createdBy: text(100, 1).optional() })
  .meta({ id: 'DelegationCreate' });

/** That an agent decides approvals until a time. */
export const delegation = z
  .object({
    id: z.string(),
    ...fields,
    /** For whom the agent decides: as it was stated, or the caller. */
    createdBy: z.string(),
    /** Who set it. */
    setBy: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'Delegation' });
export type Delegation = z.infer<typeof delegation>;

export const currentDelegation = z.object({ delegation: delegation.nullable() }).meta({ id: 'CurrentDelegation' });

/** One thing that was decided, or completed, under a delegation. */
export const delegatedApproval = z
  .object({
    id: z.string(),
    kind: z.enum(['permission-approval', 'completion']),
    taskId,
    taskTitle: z.string(),
    agent: slug,
    delegated: z.literal(true),
    /** Of a permission approval. */
    approvalId: z.string().optional(),
    decision: z.enum(['approved', 'rejected']).optional(),
    timestamp,
    /** The delegation as it was then. */
    originalDelegation: delegation,
  })
  .meta({ id: 'DelegatedApproval' });
export type DelegatedApproval = z.infer<typeof delegatedApproval>;

export const delegationLogQuery = z
  .strictObject({ taskId: taskId.optional(), agent: slug.optional(), ...listPage(50, 500) })
  .meta({ id: 'DelegationLogQuery' });
export type DelegationLogQuery = z.output<typeof delegationLogQuery>;

export const delegationLog = z
  .object({ approvals: z.array(delegatedApproval), nextCursor })
  .meta({ id: 'DelegationLog' });
