import type { Board } from '../board-files/types';
import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import type { FeedStore } from '../system/feed-store';
import type { RateCountStore } from '../system/rate-count-store';
import { createAgentPermissionStore } from './agent-permission-store';
import { type BudgetSources, openBudgets } from './budgets/budgets';
import { createCeremonyStore } from './ceremony-store';
import { createDecisionPoint } from './decision-point';
import { createDecisionReviewStore } from './decision-reviews/decision-review-store';
import { createDecisionStore } from './decision-store';
import { createDelegationStore } from './delegation-store';
import { createDriftStore } from './drift-store';
import { createGoalStore } from './goal-store';
import { createPermissionApprovalStore } from './permission-approval-store';
import { createPolicyStore } from './policy-store';
import { createScoringStore } from './scoring-store';
import { createToolPolicyStore } from './tool-policy-store';
import { createTraceStore } from './trace-store';
import { createRunContinuationStore } from './watcher-policies/run-continuation-store';

/** What rules are decided by besides their own stores. */
export interface GovernanceEnvironment extends Omit<BudgetSources, 'isOver'> {
  rates: RateCountStore;
  /** Where changes of goals are announced. */
  feed: FeedStore;
  attempts: { get(id: string): Promise<{ state: string } | undefined> };
  /** Absent in a process without the files of the board. */
  tasks?: Pick<Board, 'get'> | undefined;
}

/** Opens the stores of rules and the decisions made by them, and the one place that decides by these rules. */
export async function openGovernanceStores(
  database: Database,
  { rates, attempts, feed, tasks, ...environment }: GovernanceEnvironment,
) {
  const isOver = async (attemptId: string): Promise<boolean> => {
    const attempt = await attempts.get(attemptId);
    return attempt === undefined || attempt.state === 'ended' || attempt.state === 'refused';
  };
  const stores = await openTogether({
    agentPermissions: createAgentPermissionStore(database),
    budgets: openBudgets(database, { ...environment, isOver }),
    ceremonies: createCeremonyStore(database),
    decisionReviews: createDecisionReviewStore(database),
    decisions: createDecisionStore(database),
    delegations: createDelegationStore(database),
    drift: createDriftStore(database),
    goals: createGoalStore(database, ({ id: goalId, state, revision, updatedAt }) =>
      feed.append({ type: 'notice', notice: { type: 'goal:changed', goalId, state, revision, updatedAt } }),
    ),
    permissionApprovals: createPermissionApprovalStore(database, tasks),
    policies: createPolicyStore(database),
    runContinuations: createRunContinuationStore(database),
    scoring: createScoringStore(database),
    toolPolicies: createToolPolicyStore(database),
    traces: createTraceStore(database),
  });
  return { ...stores, rules: createDecisionPoint({ ...stores, rates }) };
}
