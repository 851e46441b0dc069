import type { EvaluatedRule } from '../../contracts/governance/trace';
import type { AskedAction, RuleReason } from '../../domain/governance/action';
import { judgeTool } from '../../domain/governance/tool-policy';
import type { ToolPolicyStore } from './tool-policy-store';

interface ToolFindings {
  reasons: RuleReason[];
  evaluatedRules: EvaluatedRule[];
}

/**
 * What the tool policies of the roles make of a tool with these names: each must allow one of them and deny none. A role
 * without a policy limits nothing.
 */
export async function toolPolicyReasons(
  toolPolicies: Pick<ToolPolicyStore, 'get'>,
  { roles = [], tools = [] }: AskedAction,
): Promise<ToolFindings> {
  const found: ToolFindings = { reasons: [], evaluatedRules: [] };
  for (const role of roles) {
    const policy = await toolPolicies.get(role);
    if (!policy) {
      continue;
    }
    const { denied, isAllowed } = judgeTool(policy, tools);
    const names = tools.join(', ') || 'a tool without a name';
    const reason =
      denied === undefined
        ? `The tool policy ${role} ${isAllowed ? 'allows' : 'does not allow'} ${names}.`
        : `The tool policy ${role} denies ${denied}.`;
    found.evaluatedRules.push({
      id: role,
      label: role,
      type: 'tool-policy',
      status: 'matched',
      outcome: isAllowed ? 'allowed' : 'blocked',
      message: reason,
    });
    if (!isAllowed) {
      const remedy = `An administrator changes the tool policy with PUT /api/tool-policies/${role}.`;
      found.reasons.push({ source: 'tool-policy', id: role, decision: 'block', reason, remedy });
    }
  }
  return found;
}
