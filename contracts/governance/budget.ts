import { z } from 'zod';
import { slug, text, timestamp } from '../common';
import { periodMoment, periodName, timeZone } from '../period';
import { listPage, nextCursor } from '../query';
import { budgetScope } from '../settings/budget';

/** `GET /api/metrics/budget`. */
export const budgetQuery = z
  .strictObject({
    period: periodName.default('7d'),
    /** The budget of one project or of one agent; that of the workspace without them. */
    project: text(200, 1).optional(),
    agent: slug.optional(),
    /** Of the period `custom`. */
    from: periodMoment.optional(),
    to: periodMoment.optional(),
    /** The zone of the period; that of the budgets when absent. */
    tz: timeZone.optional(),
    /** Whose scopes are listed. */
    scope: budgetScope.exclude(['workspace']).default('project'),
    ...listPage(50, 200),
  })
  .refine(({ project, agent }) => project === undefined || agent === undefined, {
    path: ['agent'],
    message: 'give a project or an agent, not both',
  })
  .refine(({ period, from }) => (period === 'custom') === (from !== undefined), {
    path: ['from'],
    message: 'is required with the period custom, and allowed with no other',
  })
  .refine(({ period, to }) => period === 'custom' || to === undefined, {
    path: ['to'],
    message: 'is allowed with the period custom only',
  })
  .meta({ id: 'BudgetQuery' });
export type BudgetQuery = z.output<typeof budgetQuery>;

const amount = z.number();

/** How much of one budget is used; without a limit there is nothing left of it and no percentage. */
const budgetState = z
  .object({
    limit: amount.nullable(),
    used: amount,
    /** For runs that were admitted and have not ended. */
    reserved: amount,
    remaining: amount.nullable(),
    percent: z.number().int().nullable(),
    /** What will be used by the end of the month at the rate of its days so far. */
    projected: amount.nullable(),
    status: z.enum(['ok', 'warning', 'exhausted']),
  })
  .meta({ id: 'BudgetState' });
export type BudgetState = z.infer<typeof budgetState>;

const scopeBudget = z
  .object({
    scope: budgetScope,
    scopeId: z.string(),
    tokens: budgetState,
    costUsd: budgetState,
    /** The worse of both. */
    status: budgetState.shape.status,
  })
  .meta({ id: 'ScopeBudget' });
export type ScopeBudget = z.infer<typeof scopeBudget>;

export const budgetReport = scopeBudget
  .extend({
    enabled: z.boolean(),
    tokenBudget: amount.nullable(),
    costBudget: amount.nullable(),
    warningThreshold: z.number().int(),
    /** The month that the budgets are for. */
    month: z.object({ from: timestamp, to: timestamp, timeZone }),
    /** What was used in the period of the query. */
    period: z.object({
      name: periodName,
      /** Absent of the period `all`. */
      from: timestamp.optional(),
      to: timestamp,
      timeZone,
      used: z.object({ tokens: amount, costUsd: amount }),
    }),
    /** The scopes of the kind that was asked for that have used something, by their ids. */
    scopes: z.array(scopeBudget),
    nextCursor,
  })
  .meta({ id: 'BudgetReport' });
