import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import type { RateCountStore } from '../system/rate-count-store';
import { createAgentPermissionStore } from './agent-permission-store';
import { createCeremonyStore } from './ceremony-store';
import { createDecisionPoint } from './decision-point';
import { createDecisionStore } from './decision-store';
import { createDriftStore } from './drift-store';
import { createPermissionApprovalStore } from './permission-approval-store';
import { createPolicyStore } from './policy-store';
import { createScoringStore } from './scoring-store';
import { createToolPolicyStore } from './tool-policy-store';
import { createTraceStore } from './trace-store';

/** Opens the stores of rules and the decisions made by them, and the one place that decides by these rules. */
export async function openGovernanceStores(database: Database, { rates }: { rates: RateCountStore }) {
  const stores = await openTogether({
    agentPermissions: createAgentPermissionStore(database),
    ceremonies: createCeremonyStore(database),
    decisions: createDecisionStore(database),
    drift: createDriftStore(database),
    permissionApprovals: createPermissionApprovalStore(database),
    policies: createPolicyStore(database),
    scoring: createScoringStore(database),
    toolPolicies: createToolPolicyStore(database),
    traces: createTraceStore(database),
  });
  return { ...stores, rules: createDecisionPoint({ ...stores, rates }) };
}
