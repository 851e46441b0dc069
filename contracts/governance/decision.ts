import { z } from 'zod';
import { exactlyOneOf, revision, slug, taskId, text, timestamp } from '../common';
import { listPage, moment } from '../query';

/** A share, 0 to 1, which may be stated in percent as well: what is above 1 is percent. */
const share = z
  .number()
  .min(0)
  .max(100)
  .transform((value) => (value > 1 ? value / 100 : value));
const risk = z.number().min(0).max(100);

export const decisionId = z
  .string()
  .regex(/^decision_[0-9a-f]{12}$/, 'must look like decision_0123456789ab')
  .meta({ id: 'DecisionId' });

const assumptionText = text(2000, 1);
const note = text(2000);

/** An assumption of a decision. `held` is null until it is checked. */
const assumption = z.object({
  text: assumptionText,
  held: z.boolean().nullable(),
  /** `held` as a status. */
  status: z.enum(['open', 'validated', 'invalidated']),
  note: note.optional(),
});

/** What an agent has decided, and why (specification 2, Decision). */
export const decision = z
  .object({
    id: decisionId,
    decision: z.string(),
    confidence: z.number().min(0).max(1),
    reasoning: z.string(),
    evidence: z.array(z.string()),
    assumptions: z.array(assumption),
    riskScore: risk.optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
    /** The decision that this one follows from. */
    parentDecisionId: decisionId.optional(),
    outcome: z.string().optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision,
  })
  .meta({ id: 'Decision' });
export type Decision = z.infer<typeof decision>;

/** A text, or a text with its state. */
const newAssumption = z.union([
  assumptionText,
  z.strictObject({ text: assumptionText, held: z.boolean().nullable().optional() }),
]);

const words = text(20_000, 1);

/**
 * A decision. Existing clients call some fields otherwise: `outputAction` is `decision`, `inputContext` is `reasoning`,
 * `confidenceLevel` is `confidence`, `agentId` is `agent`.
 */
export const decisionCreate = z
  .strictObject({
    decision: words.optional(),
    outputAction: words.optional(),
    confidence: share.optional(),
    confidenceLevel: share.optional(),
    reasoning: words.optional(),
    inputContext: words.optional(),
    evidence: z.array(text(5000, 1)).max(100).default([]),
    assumptions: z.array(newAssumption).max(100).default([]),
    riskScore: risk.optional(),
    agent: slug.optional(),
    agentId: slug.optional(),
    taskId: taskId.optional(),
    parentDecisionId: decisionId.optional(),
    outcome: text(5000, 1).optional(),
  })
  .refine(...exactlyOneOf('decision', 'outputAction'))
  .refine(...exactlyOneOf('confidence', 'confidenceLevel'))
  .refine(({ reasoning, inputContext }) => reasoning === undefined || inputContext === undefined, {
    path: ['inputContext'],
    message: 'is an alias of reasoning: give only one of them',
  })
  .refine(({ agent, agentId }) => agent === undefined || agentId === undefined, {
    path: ['agentId'],
    message: 'is an alias of agent: give only one of them',
  })
  .meta({ id: 'DecisionCreate' });
export type DecisionCreate = z.output<typeof decisionCreate>;

/** `status` is another form of `held`. */
export const assumptionPatch = z
  .strictObject({
    text: assumptionText.optional(),
    held: z.boolean().nullable().optional(),
    status: z.enum(['validated', 'invalidated']).optional(),
    note: note.optional(),
  })
  .refine(({ held, status }) => held === undefined || status === undefined, {
    path: ['status'],
    message: 'is an alias of held: give only one of them',
  })
  .meta({ id: 'AssumptionPatch' });
export type AssumptionPatch = z.infer<typeof assumptionPatch>;

const shareParameter = z.coerce.number().pipe(share);
const riskParameter = z.coerce.number().pipe(risk);

export const decisionQuery = z
  .strictObject({
    agent: slug.optional(),
    taskId: taskId.optional(),
    minConfidence: shareParameter.optional(),
    maxConfidence: shareParameter.optional(),
    minRisk: riskParameter.optional(),
    maxRisk: riskParameter.optional(),
    startTime: moment.optional(),
    endTime: moment.optional(),
    page: z.coerce.number().int().min(1).max(10_000).default(1),
    ...listPage(100, 500),
  })
  .meta({ id: 'DecisionQuery' });
export type DecisionQuery = z.output<typeof decisionQuery>;

/** `chain` is what the decision follows from, the first one at the beginning and the decision itself at the end. */
export const decisionWithChain = z.object({ decision, chain: z.array(decision) }).meta({ id: 'DecisionWithChain' });
