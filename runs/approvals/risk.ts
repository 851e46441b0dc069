import { approvalRisk, type ApprovalActionClass, type ApprovalRisk } from '../../contracts/run-approval';

/** What an action of each class can do when nothing more is known of it. */
const usual: Record<ApprovalActionClass, ApprovalRisk> = {
  elicitation: 'low',
  tool: 'medium',
  filesystem: 'medium',
  workflow: 'medium',
  shell: 'high',
  network: 'high',
  budget: 'high',
};

/** The risk of an action: what its class has, or more when the requester says so. An agent cannot talk a risk down. */
export function riskOf(actionClass: ApprovalActionClass, claimed?: ApprovalRisk): ApprovalRisk {
  const order = approvalRisk.options;
  const least = usual[actionClass];
  return claimed !== undefined && order.indexOf(claimed) > order.indexOf(least) ? claimed : least;
}

/** Whether a decision may be made from a small screen: nothing that needs a closer look. */
export const isMobileSafe = (risk: ApprovalRisk): boolean => risk === 'low' || risk === 'medium';
