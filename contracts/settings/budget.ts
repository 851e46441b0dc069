import { z } from 'zod';
import { timeZone } from '../period';

/** What a budget is of; those of a workspace, a project and an agent begin again each month. */
export const budgetScope = z.enum(['workspace', 'project', 'agent', 'task', 'tree']);
export type BudgetScope = z.infer<typeof budgetScope>;

/** What a budget limits. */
export const budgetResource = z.enum(['tokens', 'costUsd']);
export type BudgetResource = z.infer<typeof budgetResource>;

const tokens = z.number().int().max(1_000_000_000_000);
const costUsd = z.number().max(1_000_000_000);

/** The limit of each scope of a kind; `null` is none. */
const limit = z.strictObject({ tokens: tokens.min(1).nullable(), costUsd: costUsd.positive().nullable() });

/** What runs may use together, and when to warn (gaps in the specification, 12: no limits, a warning at 80 percent). */
export const budgetSettings = z.strictObject({
  /** `false` limits nothing; what runs use is still counted. */
  enabled: z.boolean(),
  /** Percent of a limit from which on its use is a warning. */
  warningThreshold: z.number().int().min(1).max(100),
  /** In whose calendar months begin and end. Zones are named, since only those have borders of days on quarters of an hour. */
  timeZone,
  /** What is reserved for each run that was admitted, until it ends: what one turn of an agent may use. */
  reservePerRun: z.strictObject({ tokens: tokens.min(0), costUsd: costUsd.min(0) }),
  limits: z.strictObject({ workspace: limit, project: limit, agent: limit, task: limit, tree: limit }),
});
export type BudgetSettings = z.infer<typeof budgetSettings>;
