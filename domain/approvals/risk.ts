import { type ApprovalActionClass, type ApprovalRisk, approvalRisk } from '../../contracts/runs/approval';

/** The risk of each class of action without further facts. */
const usual: Record<ApprovalActionClass, ApprovalRisk> = {
  elicitation: 'low',
  tool: 'medium',
  filesystem: 'medium',
  workflow: 'medium',
  shell: 'high',
  network: 'high',
  budget: 'high',
};

/** The risk of an action: that of its class, or a higher one that the requester claims. An agent cannot lower a risk. */
export function riskOf(actionClass: ApprovalActionClass, claimed?: ApprovalRisk): ApprovalRisk {
  const order = approvalRisk.options;
  const least = usual[actionClass];
  return claimed !== undefined && order.indexOf(claimed) > order.indexOf(least) ? claimed : least;
}

/** Whether a decision may be made from a small screen: nothing that needs a closer review. */
export const isMobileSafe = (risk: ApprovalRisk): boolean => risk === 'low' || risk === 'medium';
