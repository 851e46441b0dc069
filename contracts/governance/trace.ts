import { z } from 'zod';
import { slug, taskId, timestamp } from '../common';
import { listPage, moment } from '../query';

/** What was decided about. */
export const traceKind = z.enum([
  'policy',
  'tool-policy',
  'sandbox-policy',
  'budget-policy',
  'agent-permission',
  'routing',
  'workflow-gate',
  'ceremony',
]);

export const traceOutcome = z.enum([
  'allowed',
  'warned',
  'blocked',
  'approval-required',
  'routed',
  'fallback',
  'skipped',
]);

export const traceStatus = z.enum(['matched', 'not-matched', 'skipped', 'info']);

/** One rule that was evaluated for a decision, in the order of evaluation. */
export const evaluatedRule = z.object({
  id: z.string(),
  label: z.string(),
  type: z.string(),
  status: traceStatus,
  outcome: traceOutcome.optional(),
  message: z.string(),
});
export type EvaluatedRule = z.infer<typeof evaluatedRule>;

export const traceStep = z.object({ label: z.string(), status: traceStatus, message: z.string() });

/** Whom and what the decision was about. */
export const traceSubject = z.object({
  agentId: z.string().optional(),
  taskId: z.string().optional(),
  actionType: z.string().optional(),
});

/** Why one decision came out as it did (specification 2, Governance trace). */
export const governanceTrace = z
  .object({
    id: z.string(),
    kind: traceKind,
    outcome: traceOutcome,
    title: z.string(),
    summary: z.string(),
    /** What would change the outcome. */
    remediation: z.string().optional(),
    subject: traceSubject,
    evaluatedRules: z.array(evaluatedRule),
    /** Those of them that matched. */
    matchedRules: z.array(evaluatedRule),
    steps: z.array(traceStep),
    /** Whether anything that looked like a secret, or was too long, was taken out. */
    redacted: z.boolean(),
    createdAt: timestamp,
  })
  .meta({ id: 'GovernanceTrace' });
export type GovernanceTrace = z.infer<typeof governanceTrace>;

/** With `raw`: the decision's inputs. */
export const governanceTraceWithRaw = governanceTrace
  .extend({ raw: z.record(z.string(), z.unknown()) })
  .meta({ id: 'GovernanceTraceWithRaw' });

/** What the deciding code records. */
export type TraceInput = Pick<GovernanceTrace, 'kind' | 'outcome' | 'title' | 'summary'> &
  Partial<Pick<GovernanceTrace, 'remediation' | 'subject' | 'evaluatedRules' | 'steps'>> & {
    raw?: Record<string, unknown>;
    /** Names the decision: recorded again under the same key, it is the existing trace. */
    dedupeKey?: string;
  };

export const governanceTraceQuery = z
  .strictObject({
    kind: traceKind.optional(),
    outcome: traceOutcome.optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
    actionType: slug.optional(),
    startTime: moment.optional(),
    endTime: moment.optional(),
    ...listPage(100, 500),
  })
  .meta({ id: 'GovernanceTraceQuery' });
export type GovernanceTraceQuery = z.infer<typeof governanceTraceQuery>;
