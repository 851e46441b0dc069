import type { Phase } from '../../contracts/common';
import type { PolicyDecision } from '../../contracts/governance/policy';
import type { BudgetUse } from '../budgets/budget-use';
import type { ActionQuestion } from './policy-conditions';
import { strictness } from './policy-verdict';
import type { Reached } from './trusted-domains';
import type { AskedContinuation, WatcherDecision } from './watcher-policy';

/** The names of actions that are asked about before they are done (docs/use/governance/decision-point.md). */
export const governedActions = [
  'launch',
  'delegate',
  'create-task',
  'update-task',
  'complete-task',
  'delete-task',
  'merge',
  'force',
  'tool',
  'network',
  'spend',
  'continuation',
  'external-message',
] as const;
export type GovernedAction = (typeof governedActions)[number];

/** An action that an actor is about to do. */
export interface AskedAction extends Pick<ActionQuestion, 'agent' | 'project' | 'riskScore'> {
  action: GovernedAction;
  /** Other names of the same action, such as `retry` of a launch. */
  also?: readonly string[];
  /** Who asks for it, as the audit log names them. */
  actor: string;
  taskId?: string;
  /** Every name of the tool that is used. */
  tools?: readonly string[];
  /** What the tool policies are of that must allow it, as far as there are such policies. */
  roles?: readonly string[];
  /** Of an action that uses the network. */
  reaches?: Reached;
  /** Everything that makes the action what it is: an approval is of exactly this. */
  subject?: Readonly<Record<string, unknown>>;
  /** What requires an approval of it besides the rules: the definition of a tool server. */
  requires?: readonly RuleReason[];
  /** Facts for the trace. */
  facts?: Readonly<Record<string, unknown>>;
  /** Of a launch by a watcher. */
  watcher?: AskedContinuation;
  /** Of a launch. */
  phase?: Phase;
  /** Of a launch: the root of its execution tree, where it is known. */
  tree?: string;
  /** A person does it for the agent: policies on the agent count, and its permissions are not asked. */
  onBehalf?: boolean;
  /** The configuration of the agent lets it launch children. */
  launchesChildren?: boolean;
}

/** Where a rule comes from. */
export type RuleSource = 'watcher-policy' | 'policy' | 'tool-policy' | 'tool-server' | 'agent-permission' | 'budget';

/** What one rule decides about an action, and what would change that. */
export interface RuleReason {
  source: RuleSource;
  /** Of the policy, the role, the agent, or what a budget is of. */
  id: string;
  /** Which of the rules of a policy, or what of the permissions decided. */
  rule?: number | string;
  decision: PolicyDecision;
  reason: string;
  remedy: string;
  /** The whole decision of the watcher policy. */
  watcher?: WatcherDecision;
  /** Of a budget: how much of it is used. */
  use?: BudgetUse;
}

/** What all rules come to: the strictest decides, and its reasons are first, each in the order of evaluation. */
export function combineReasons(reasons: readonly RuleReason[]): { decision: PolicyDecision; reasons: RuleReason[] } {
  const sorted = [...reasons].sort((a, b) => strictness(b.decision) - strictness(a.decision));
  return { decision: sorted[0]?.decision ?? 'allow', reasons: sorted };
}

/** From 0 to 100, where no one states it: what an action of this kind can do at worst, as classes of approvals have it. */
const risks: Record<GovernedAction, number> = {
  launch: 50,
  delegate: 50,
  'create-task': 20,
  'update-task': 20,
  'complete-task': 30,
  'delete-task': 50,
  merge: 65,
  force: 85,
  tool: 50,
  network: 70,
  spend: 50,
  continuation: 65,
  'external-message': 50,
};

/** A run can do what its phase lets it. */
const risksOfPhases: Record<Phase, number> = { explore: 20, plan: 20, verify: 40, implement: 50, publish: 70 };

/** The risk of an action by its kind, or of a launch by its phase; the highest of its names counts. */
export const riskScoreOf = (
  action: GovernedAction,
  { also = [], phase }: { also?: readonly string[]; phase?: Phase },
) =>
  Math.max(
    action === 'launch' && phase !== undefined ? risksOfPhases[phase] : risks[action],
    ...also.map((name) => (Object.hasOwn(risks, name) && name !== 'spend' ? risks[name as GovernedAction] : 0)),
  );
