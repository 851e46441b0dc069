import { z } from 'zod';
import { taskId, text, timestamp } from '../../common';
import { permissionApprovalId } from '../../governance/agent-permission';
import { listPage } from '../../query';
import { stepId, workflowId, workflowVariables } from './definition';

/** The most runs of a workspace that have not ended. */
export const maxOpenRuns = 1_000;

export const workflowRunId = z
  .string()
  .regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, 'must be the id of a workflow run')
  .meta({ id: 'WorkflowRunId' });

/** `blocked`: a person has to approve or reject. */
export const workflowRunStatus = z.enum(['pending', 'running', 'blocked', 'completed', 'failed', 'cancelled']);
export type WorkflowRunStatus = z.infer<typeof workflowRunStatus>;

export const workflowStepStatus = z.enum(['pending', 'running', 'blocked', 'completed', 'failed', 'skipped']);

/** What has become of a step; with several visits of the last one. */
export const workflowStepState = z
  .object({
    stepId,
    name: z.string().optional(),
    type: z.string(),
    status: workflowStepStatus,
    agent: z.string().optional(),
    /** How often it was begun: loops and reroutes begin a step again. */
    visits: z.number().int(),
    startedAt: timestamp.nullable(),
    completedAt: timestamp.nullable(),
    /** In milliseconds, of its visits together. */
    durationMs: z.number(),
    retries: z.number().int(),
    output: z.unknown().optional(),
    error: z.string().nullable(),
    /** What a person is asked, while it waits for approval. */
    question: z.string().optional(),
    /** The approval of the board that its call of a tool waits for; it is not decided with the step. */
    approvalId: permissionApprovalId.optional(),
  })
  .meta({ id: 'WorkflowStepState' });
export type WorkflowStepState = z.infer<typeof workflowStepState>;

const summary = {
  id: workflowRunId,
  revision: z.number().int(),
  workflowId,
  workflowVersion: z.number().int(),
  taskId: taskId.nullable(),
  status: workflowRunStatus,
  /** The step that is under way, or waits for a person; of several the first. */
  currentStep: z.string().nullable(),
  startedBy: z.string(),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
  error: z.string().nullable(),
  /** The failed run that it continues. */
  resumedFrom: workflowRunId.nullable(),
};
export const workflowRunSummary = z.object(summary).meta({ id: 'WorkflowRunSummary' });
export type WorkflowRunSummary = z.infer<typeof workflowRunSummary>;

export const workflowRun = z
  .object({ ...summary, context: z.record(z.string(), z.unknown()), steps: z.array(workflowStepState) })
  .meta({ id: 'WorkflowRun' });
export type WorkflowRun = z.infer<typeof workflowRun>;

export const workflowRunStart = z
  .strictObject({
    /** The task that steps without an input work on. */
    taskId: taskId.optional(),
    /** Values of variables, instead of those of the definition. */
    context: workflowVariables.optional(),
  })
  .meta({ id: 'WorkflowRunStart' });

export const workflowRunResume = z
  .strictObject({ context: workflowVariables.optional() })
  .meta({ id: 'WorkflowRunResume' });

export const stepDecision = z.strictObject({ comment: text(4_000).optional() }).meta({ id: 'WorkflowStepDecision' });

export const workflowRunQuery = z.strictObject({ workflowId: workflowId.optional(), ...listPage(50, 200) });
export const activeRunQuery = z.strictObject(listPage(50, 200));

export const workflowRunStats = z
  .object({ total: z.number().int(), byStatus: z.record(workflowRunStatus.exclude(['blocked']), z.number().int()) })
  .meta({ id: 'WorkflowRunStats' });
