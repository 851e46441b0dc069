import { z } from 'zod';
import { digest, slug, taskId, text, timestamp } from '../common';
import { actionName, namePattern } from '../name-pattern';
import { listPage } from '../query';
import { webUrl } from '../url';

/** How far an agent is trusted (specification 2, Agent permission levels). */
export const agentLevel = z.enum(['intern', 'specialist', 'lead']);
export type AgentLevel = z.infer<typeof agentLevel>;

/** What an agent may do without approval; its level decides these unless they are set. */
const capabilities = { canCreateTasks: z.boolean(), canDelegate: z.boolean(), canApprove: z.boolean() };
export type AgentCapabilities = z.infer<z.ZodObject<typeof capabilities>>;

/** A name of a host, or `*.` and a domain for all names below it. */
const domainName = z
  .string()
  .max(253)
  .regex(
    /^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
    'must be the name of a host without scheme, port and path, or *. and a domain',
  );
/** A name or an address of a host, without scheme, port and path. */
const hostName = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'must be the name of a host without scheme, port and path');
/** Actions that the agent may never do, whatever its level. */
const restrictions = z.array(namePattern).max(100);

/** What an agent may do. An agent without a record is a specialist, at revision 0 and without times. */
export const agentPermission = z
  .object({
    agentId: slug,
    level: agentLevel,
    ...capabilities,
    /** Hosts that the agent reaches without approval; any when empty. As they are stored: earlier ones were any text. */
    trustedDomains: z.array(z.string()).max(100),
    restrictions,
    revision: z.number().int().min(0),
    createdAt: timestamp.optional(),
    updatedAt: timestamp.optional(),
  })
  .meta({ id: 'AgentPermission' });
export type AgentPermission = z.infer<typeof agentPermission>;
export type AgentPermissionFields = Omit<AgentPermission, 'agentId' | 'revision' | 'createdAt' | 'updatedAt'>;

const trustedDomains = z.array(domainName).max(100);
const overrides = z.object({ ...capabilities, trustedDomains, restrictions }).partial().shape;

export const agentPermissionCreate = z
  .strictObject({ agentId: slug, level: agentLevel.default('specialist'), ...overrides })
  .meta({ id: 'AgentPermissionCreate' });

export const agentPermissionPatch = z.strictObject(overrides).meta({ id: 'AgentPermissionPatch' });
export type AgentPermissionPatch = z.infer<typeof agentPermissionPatch>;

export const agentLevelWrite = z.strictObject({ level: agentLevel }).meta({ id: 'AgentLevelWrite' });

export const permissionApprovalId = z
  .string()
  .regex(/^approval_[0-9a-f]{12}$/, 'must look like approval_0123456789ab')
  .meta({ id: 'PermissionApprovalId' });

/**
 * `approvalId` names an approval of exactly this action of this agent; `host` or `url` is what the action reaches over the network,
 * so that the trusted domains of the agent are asked too.
 */
export const permissionQuestion = z
  .strictObject({
    agentId: slug,
    action: actionName,
    approvalId: permissionApprovalId.optional(),
    host: hostName.optional(),
    url: webUrl.optional(),
  })
  .refine(({ host, url }) => host === undefined || url === undefined, {
    path: ['url'],
    message: 'give a host or a url, not both',
  })
  .meta({ id: 'PermissionQuestion' });

export const permissionResponse = z
  .object({
    allowed: z.boolean(),
    level: agentLevel,
    /** Whether an approval would allow it. */
    requiresApproval: z.boolean(),
    reason: z.string(),
    traceId: z.string(),
  })
  .meta({ id: 'PermissionAnswer' });

/** A request to allow what an agent may not do without approval. Reviewed once. */
export const permissionApproval = z
  .object({
    id: permissionApprovalId,
    agentId: slug,
    action: actionName,
    taskId: taskId.optional(),
    reason: z.string().optional(),
    status: z.enum(['pending', 'approved', 'rejected']),
    requestedBy: z.string(),
    createdAt: timestamp,
    reviewedBy: z.string().optional(),
    reviewedAt: timestamp.optional(),
    note: z.string().optional(),
    /** Of an approval that a rule requires: SHA-256 of exactly what is to be done. */
    subject: digest.optional(),
    /** What is to be done, without secrets and bounded. */
    details: z.record(z.string(), z.unknown()).optional(),
    /** The policies that require it. */
    policies: z.array(slug).optional(),
    /** Who may review it, by the names of their keys; every administrator when absent. */
    approvers: z.array(z.string()).optional(),
    /** When it let its one action through. */
    usedAt: timestamp.optional(),
  })
  .meta({ id: 'PermissionApproval' });
export type PermissionApproval = z.infer<typeof permissionApproval>;

export const permissionApprovalCreate = z
  .strictObject({
    agentId: slug,
    action: actionName,
    taskId: taskId.optional(),
    reason: text(2000).optional(),
  })
  .meta({ id: 'PermissionApprovalCreate' });

export const permissionApprovalQuery = z
  .strictObject({
    agentId: slug.optional(),
    page: z.coerce.number().int().min(1).max(10_000).default(1),
    ...listPage(100, 200),
  })
  .meta({ id: 'PermissionApprovalQuery' });
export type PermissionApprovalQuery = z.output<typeof permissionApprovalQuery>;

export const permissionReview = z
  .strictObject({ decision: z.enum(['approved', 'rejected']), note: text(2000).optional() })
  .meta({ id: 'PermissionReview' });

/** The current approval, and the trace of the decision. */
export const permissionReviewed = permissionApproval
  .extend({ traceId: z.string() })
  .meta({ id: 'PermissionApprovalReviewed' });
