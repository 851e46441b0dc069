import type { BudgetResource } from '../../contracts/settings/budget';
import type { ScopeId } from './spend';

export type BudgetStatus = 'ok' | 'warning' | 'exhausted';

/** One budget: how much of it is used, and reserved for runs that were admitted. */
export interface BudgetUse extends ScopeId {
  budget: BudgetResource;
  used: number;
  reserved: number;
  limit: number;
  /** Percent of the limit that are used or reserved, rounded down. */
  percent: number;
  status: BudgetStatus;
  /** When it begins again, where it does so each month. */
  resetsAt?: string;
}
