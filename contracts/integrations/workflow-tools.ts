import { z } from 'zod';
import { digest, text } from '../common';
import { permissionApprovalId } from '../governance/agent-permission';
import { namedToolServers } from '../settings/tool-server';
import { bridgedCall, toolCall } from './tool-call';
import { toolCatalog } from './tool-catalog';

/** A run of a workflow, of the board or of another service: the id that its caller has for it. */
export const toolRunId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'letters, digits, dash and underscore, at most 64');

export const workflowToolsRequest = z
  .strictObject({ toolServers: namedToolServers.refine((ids) => ids.length > 0, 'must name a tool server') })
  .meta({ id: 'WorkflowToolsRequest' });

/** The tools of a run of a workflow: compiled once, before its first call, and never changed. */
export const workflowToolCatalog = toolCatalog
  .omit({ schemaVersion: true, taskId: true, attemptId: true })
  .extend({ schemaVersion: z.literal('workflow-tool-catalog/v1'), runId: toolRunId })
  .meta({ id: 'WorkflowToolCatalog' });
export type WorkflowToolCatalog = z.infer<typeof workflowToolCatalog>;

/** The stage of the run that calls; it is in the approval and in what is recorded of the call. */
const stageId = text(200, 1);

/** So long a request waits for the end of its call at most, in milliseconds. */
export const maxWaitMs = 25_000;

export const workflowToolCallRequest = bridgedCall
  .extend({
    stageId,
    catalogDigest: digest,
    /** How long the end of the call is waited for, in milliseconds: 25 s when absent. */
    waitMs: z.number().int().min(1).max(maxWaitMs).optional(),
  })
  .meta({ id: 'WorkflowToolCallRequest' });
export type WorkflowToolCallRequest = z.infer<typeof workflowToolCallRequest>;

/** A call of a tool for a stage of a run of a workflow. */
export const workflowToolCall = toolCall
  .omit({ schemaVersion: true, taskId: true, attemptId: true })
  .extend({ schemaVersion: z.literal('workflow-tool-call/v1'), runId: toolRunId, stageId: z.string() })
  .meta({ id: 'WorkflowToolCall' });
export type WorkflowToolCall = z.infer<typeof workflowToolCall>;

/** Takes back the approval that a call of the run waits for: its stage waits no longer. */
export const workflowToolWithdrawal = z
  .strictObject({ approvalId: permissionApprovalId })
  .meta({ id: 'WorkflowToolWithdrawal' });
export const workflowToolWithdrawn = z
  .object({
    /** `false` for one that was reviewed before. */
    withdrawn: z.boolean(),
  })
  .meta({ id: 'WorkflowToolWithdrawn' });
