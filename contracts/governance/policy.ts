import { z } from 'zod';
import { revision, slug, text, timestamp } from '../common';
import { actionName, namePattern } from '../name-pattern';
import { listPage } from '../query';
import { agentLevel } from './agent-permission';

/** What a policy makes of an action, from the mildest to the strictest. */
export const policyDecision = z.enum(['allow', 'warn', 'require-approval', 'block']);
export type PolicyDecision = z.infer<typeof policyDecision>;

const names = z.array(text(200, 1)).max(100);

/** Whom and what a policy covers: every field set must fit; an empty scope covers everything. */
const scope = z
  .strictObject({
    /** States that the policy covers everything; limits nothing. */
    global: z.literal(true).optional(),
    agentLevel: agentLevel.optional(),
    agents: names.optional(),
    projects: names.optional(),
    actionTypes: z.array(namePattern).max(100).optional(),
  })
  .refine(({ global, ...others }) => !global || Object.keys(others).length === 0, {
    path: ['global'],
    message: 'cannot be combined with other scopes: remove global or the others',
  });
export type PolicyScope = z.infer<typeof scope>;

/** What is done about an action that a tool or a kind of action is forbidden for. */
const policyRule = z.strictObject({
  /** Compared with `metadata.tool`, or with the type of the action where no tool is stated. */
  tool: namePattern.default('*'),
  /** Compared with the type of the action. */
  action: namePattern.default('*'),
  effect: z.enum(['deny', 'require-approval', 'warn', 'allow']),
});

const common = {
  name: text(100, 1),
  description: text(2000).default(''),
  enabled: z.boolean().default(true),
  scope: scope.default({}),
  /** Of several policies, those with the higher one are listed first. Which of them decides depends on their strictness. */
  precedence: z.number().int().min(-1000).max(1000).default(0),
};

const responseAction = z.enum(['block', 'warn', 'require-approval']);
const risk = z.number().min(0).max(100);

/** The specification's form: rules. */
const rulesPolicy = z.strictObject({
  ...common,
  type: z.literal('rules').optional(),
  rules: z.array(policyRule).min(1).max(100),
});

/** One condition each, and the action when it is met. */
const riskThreshold = z.strictObject({
  ...common,
  type: z.literal('risk-threshold'),
  responseAction: responseAction.default('block'),
  config: z.strictObject({ threshold: risk, comparator: z.enum(['gte', 'gt', 'lte', 'lt']).default('gte') }),
});
const requireApproval = z.strictObject({
  ...common,
  type: z.literal('require-approval'),
  responseAction: responseAction.default('require-approval'),
  config: z.strictObject({ reason: text(500).default(''), approvers: names.default([]) }).default({
    reason: '',
    approvers: [],
  }),
});
const blockActionType = z.strictObject({
  ...common,
  type: z.literal('block-action-type'),
  responseAction: responseAction.default('block'),
  config: z.strictObject({ actionTypes: z.array(namePattern).min(1).max(100) }),
});
const rateLimit = z.strictObject({
  ...common,
  type: z.literal('rate-limit'),
  responseAction: responseAction.default('block'),
  config: z.strictObject({
    maxAttempts: z.number().int().min(1).max(1_000_000),
    /** Windows are cut from the epoch on. */
    windowMs: z
      .number()
      .int()
      .min(1_000)
      .max(31 * 86_400_000),
    /** What is counted apart. */
    scopeKey: z.enum(['agent', 'project', 'action-type', 'global']).default('agent'),
  }),
});

const forms = [riskThreshold, requireApproval, blockActionType, rateLimit] as const;

/** A policy as it is written: without `type`, or with `rules`, it has rules; otherwise one condition. */
const written = z.discriminatedUnion('type', [rulesPolicy, ...forms]);
export type PolicyWrite = z.infer<typeof written>;

/** What is stored of one: the form is always named. */
export type PolicyFields =
  (Omit<z.infer<typeof rulesPolicy>, 'type'> & { type: 'rules' }) | z.infer<(typeof forms)[number]>;
export type PolicyOf<T extends PolicyFields['type']> = Extract<PolicyFields, { type: T }>;

const withId = { id: slug.optional() };

/** Without an id, one is made. */
export const policyCreate = z
  .discriminatedUnion('type', [
    rulesPolicy.extend(withId),
    riskThreshold.extend(withId),
    requireApproval.extend(withId),
    blockActionType.extend(withId),
    rateLimit.extend(withId),
  ])
  .meta({ id: 'PolicyCreate' });

export const policyWrite = written.meta({ id: 'PolicyWrite' });

const recorded = { id: slug, revision, createdAt: timestamp, updatedAt: timestamp };

/** What is done about actions of agents (specification 2, Policy). */
export const policy = z
  .discriminatedUnion('type', [
    rulesPolicy.extend({ ...recorded, type: z.literal('rules') }),
    riskThreshold.extend(recorded),
    requireApproval.extend(recorded),
    blockActionType.extend(recorded),
    rateLimit.extend(recorded),
  ])
  .meta({ id: 'Policy' });
export type Policy = z.infer<typeof policy>;

export const policyQuery = z
  .strictObject({
    /** Policies that are about this agent, by its name or because they name none. */
    agent: text(200, 1).optional(),
    project: text(200, 1).optional(),
    enabled: z
      .enum(['true', 'false'])
      .transform((value) => value === 'true')
      .optional(),
    ...listPage(500, 500),
  })
  .meta({ id: 'PolicyQuery' });

/** An action that an actor is about to do. */
export const policyQuestion = z
  .strictObject({
    agent: slug.optional(),
    project: text(200, 1).optional(),
    actionType: actionName,
    riskScore: risk.optional(),
    /** `tool` is the tool of the action, `taskId` its task; the rest is evidence for the trace. */
    metadata: z.record(z.string().max(200), z.json()).optional(),
    /** Counts nothing for rate limits. */
    preview: z.boolean().default(false),
  })
  .meta({ id: 'PolicyQuestion' });
export type PolicyQuestion = z.infer<typeof policyQuestion>;

/** A policy that matches the action, or one rule of it. */
export const policyMatch = z.object({
  policyId: slug,
  name: z.string(),
  type: z.enum(['rules', 'risk-threshold', 'require-approval', 'block-action-type', 'rate-limit']),
  decision: policyDecision,
  /** Which of the policy's rules, from 0. */
  rule: z.number().int().optional(),
  reason: z.string(),
});
export type PolicyMatch = z.infer<typeof policyMatch>;

export const policyResponse = z
  .object({
    /** The strictest of the matches; `allow` without any. */
    decision: policyDecision,
    matches: z.array(policyMatch),
    /** The messages of those that warn. */
    warnings: z.array(z.string()),
    /** Ids of the policies that block. */
    blockedBy: z.array(slug),
    approvalRequiredBy: z.array(slug),
    traceId: z.string(),
  })
  .meta({ id: 'PolicyAnswer' });
