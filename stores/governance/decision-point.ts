import type { AgentPermission, PermissionApproval } from '../../contracts/governance/agent-permission';
import type { PolicyDecision, PolicyMatch } from '../../contracts/governance/policy';
import type { EvaluatedRule, TraceInput } from '../../contracts/governance/trace';
import { type AskedAction, combineReasons, riskScoreOf, type RuleReason } from '../../domain/governance/action';
import { decidePermission } from '../../domain/governance/agent-permission';
import { namesOf } from '../../domain/governance/policy-conditions';
import { type Reached, untrustedHost } from '../../domain/governance/trusted-domains';
import { watcherReason } from '../../domain/governance/watcher-reason';
import { compact } from '../../platform/json/compact';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import { createActionApprovals } from './action-approvals';
import type { AgentPermissionStore } from './agent-permission-store';
import type { Budgets } from './budgets/budgets';
import type { PermissionApprovalStore } from './permission-approval-store';
import { type Counting, evaluatePolicies, type EvaluationSources, outcomes } from './policy-evaluation';
import { toolPolicyReasons } from './tool-policy-reasons';
import type { ToolPolicyStore } from './tool-policy-store';
import type { TraceStore } from './trace-store';

export interface DecisionPointSources extends EvaluationSources {
  agentPermissions: Pick<AgentPermissionStore, 'get'>;
  permissionApprovals: PermissionApprovalStore;
  toolPolicies: Pick<ToolPolicyStore, 'get'>;
  traces: Pick<TraceStore, 'begin'>;
  budgets: Pick<Budgets, 'findings'>;
}

/** How an action is asked about. */
export interface Asking {
  /** `each` when absent. */
  counting?: Counting;
  /** Names the one thing that an approval is used for; without it approvals are looked at and none is used. */
  use?: string;
  /** `elsewhere`: the caller requests the approval by itself, such as one of the run. */
  approvals?: 'elsewhere';
  /** Nothing is done after this: no approval is requested. */
  preview?: boolean;
  /** The attempt that what the launch may spend is reserved for, in the same step, unless a budget blocks it. */
  hold?: string;
  /** Names the decision, so that deciding again is one trace. */
  once?: string;
}

/** What all rules together say about an action. */
export interface RuleDecision {
  decision: PolicyDecision;
  /** The strictest first. */
  reasons: RuleReason[];
  warnings: string[];
  /** What has to be decided, or was. */
  approval?: PermissionApproval;
  /** Of the trace; none where no rule is about the action. */
  traceId?: string;
}

const redact = createRedactor();
const bounds = { bytes: 16_384, depth: 8, items: 100 };

/**
 * The one place that combines the rules: the watcher policy, policies, tool policies, permissions of agents, their approvals and budgets. Every action that a rule can speak
 * of asks here before it is done (docs/use/governance/decision-point.md), and the strictest rule decides.
 */
export function createDecisionPoint(sources: DecisionPointSources, now: () => Date = () => new Date()) {
  const { policies, agentPermissions, permissionApprovals, toolPolicies, traces, budgets } = sources;
  const approvals = createActionApprovals({ policies, permissionApprovals }, now);

  return {
    /** Whether any policy is turned on: without one, what policies are scoped by need not be read. */
    hasPolicies: async (): Promise<boolean> => (await policies.enabled()).length > 0,

    /** Asks whether an action may be done now. Writes a trace where any rule is about it. */
    async decide(asked: AskedAction, asking: Asking = {}): Promise<RuleDecision> {
      const { recorded, ...decided } = await decideFirst(asked, asking);
      await recorded;
      return decided;
    },

    decideFirst,
  };

  /**
   * The same, while the trace is still being stored: whatever is done by this decision is acknowledged only once `recorded` has
   * resolved, and has failed if that rejects.
   */
  async function decideFirst(
    asked: AskedAction,
    asking: Asking = {},
  ): Promise<RuleDecision & { recorded: Promise<void> }> {
    const permission = asked.agent === undefined ? undefined : await agentPermissions.get(asked.agent);
    const question = {
      actionType: asked.action,
      riskScore: asked.riskScore ?? riskScoreOf(asked.action, asked),
      preview: asking.preview === true,
      ...compact({ agent: asked.agent, project: asked.project, also: asked.also, tools: asked.tools }),
      metadata: compact({ taskId: asked.taskId }),
    };
    const counting = asking.counting ?? (asking.preview ? 'preview' : 'each');
    const level = permission?.level;
    const evaluated = await evaluatePolicies(sources, { ...question, ...compact({ level }) }, { counting });
    const byPermission = permission && !asked.onBehalf ? await permissionReasons(asked, permission, asking) : [];
    const byTools = await toolPolicyReasons(toolPolicies, asked);
    const byWatcher = asked.watcher && watcherReason(asked.watcher);
    const byBudget = await budgets.findings(asked, asking.hold);
    const { requires = [] } = asked;
    const others = [...byTools.reasons, ...requires, ...byPermission, ...byBudget.reasons];
    const first = byWatcher?.reason ? [byWatcher.reason] : [];
    const combined = combineReasons([...first, ...evaluated.matches.map(policyReason), ...others]);
    // What the watcher policy leaves to a person no approval lets through.
    const settles = combined.decision === 'require-approval' && asking.approvals !== 'elsewhere' && first.length === 0;
    const decided = settles ? await approvals.settle(asked, combined, asking) : combined;
    const evaluatedRules = [
      ...(byWatcher ? [byWatcher.evaluated] : []),
      ...evaluated.evaluatedRules,
      ...byTools.evaluatedRules,
      ...requires.map(reasonRule('tool-policy')),
      ...byPermission.map(reasonRule('agent-permission')),
      ...byBudget.evaluatedRules,
    ];
    const warnings = decided.reasons.filter(({ decision }) => decision === 'warn').map(({ reason }) => reason);
    const isAbout = evaluatedRules.length > 0;
    const trace = isAbout ? traces.begin(traceOf(asked, { decided, evaluatedRules, asking })) : undefined;
    const recorded = trace?.recorded ?? Promise.resolve();
    return { ...decided, warnings, ...compact({ traceId: trace?.id }), recorded };
  }

  /** What the permissions of the acting agent say: nothing while they let it. */
  async function permissionReasons(
    asked: AskedAction,
    permission: AgentPermission,
    asking: Asking,
  ): Promise<RuleReason[]> {
    const byAction = await actionReason(asked, permission, asking);
    const byDomain = asked.reaches && domainReason(permission, asked.reaches);
    return [byAction, byDomain].filter((reason) => reason !== undefined);
  }

  async function actionReason(
    { action, also, agent = '', taskId, launchesChildren = false }: AskedAction,
    permission: AgentPermission,
    { use }: Asking,
  ): Promise<RuleReason | undefined> {
    for (const name of namesOf({ actionType: action, ...compact({ also }) })) {
      const decided = decidePermission(permission, name, { launchesChildren });
      if (decided.allowed) {
        continue;
      }
      const { requiresApproval, rule, reason } = decided;
      const at = now();
      const given =
        requiresApproval &&
        (await permissionApprovals.useOf(
          { agentId: agent, action: name, ...compact({ taskId }) },
          { at, ...compact({ use }) },
        ));
      if (!given) {
        const remedy =
          rule === 'restriction'
            ? `An administrator removes the restriction with PATCH /api/agents/permissions/${agent}.`
            : `An administrator gives the permission with PATCH /api/agents/permissions/${agent}.`;
        return {
          source: 'agent-permission',
          id: agent,
          rule,
          decision: requiresApproval ? 'require-approval' : 'block',
          reason,
          remedy,
        };
      }
    }
    return undefined;
  }
}

export type DecisionPoint = ReturnType<typeof createDecisionPoint>;

const policyReason = ({ policyId: id, name, rule, decision, reason }: PolicyMatch): RuleReason => ({
  source: 'policy',
  id,
  ...compact({ rule }),
  decision,
  reason: `${name}: ${reason}`,
  remedy: `An administrator changes or turns off the policy with PUT /api/policies/${id}.`,
});

function domainReason(permission: AgentPermission, reaches: Reached): RuleReason | undefined {
  const reason = untrustedHost(permission, reaches);
  const id = permission.agentId;
  const remedy = `An administrator adds it to trustedDomains with PATCH /api/agents/permissions/${id}.`;
  return reason === undefined
    ? undefined
    : { source: 'agent-permission', id, rule: 'trusted-domains', decision: 'require-approval', reason, remedy };
}

const reasonRule =
  (type: EvaluatedRule['type']) =>
  ({ id, rule, decision, reason }: RuleReason): EvaluatedRule => ({
    id,
    label: String(rule ?? id),
    type,
    status: 'matched',
    outcome: outcomes[decision],
    message: reason,
  });

/** That of the rule that decided; of the budgets where only they are about the action. */
function kindOf(first: RuleReason | undefined, rules: readonly EvaluatedRule[]): TraceInput['kind'] {
  const isBudget = first ? first.source === 'budget' : rules.every(({ type }) => type === 'budget');
  if (isBudget) {
    return 'budget-policy';
  }
  if (first?.source === 'tool-server') {
    return 'tool-policy';
  }
  return first === undefined || first.source === 'watcher-policy' || first.source === 'budget'
    ? 'policy'
    : first.source;
}

function traceOf(
  asked: AskedAction,
  {
    decided: { decision, reasons, approval },
    evaluatedRules,
    asking: { once },
  }: {
    decided: Pick<RuleDecision, 'decision' | 'reasons' | 'approval'>;
    evaluatedRules: EvaluatedRule[];
    asking: Asking;
  },
): TraceInput {
  const { action, actor, agent, taskId, facts = {} } = asked;
  const [first] = reasons;
  return {
    kind: kindOf(first, evaluatedRules),
    outcome: outcomes[decision],
    title: `${action}: ${decision}`,
    summary: first?.reason ?? `${evaluatedRules.length} rules are about the action, and none forbids it.`,
    ...(decision === 'allow' || decision === 'warn' ? {} : compact({ remediation: first?.remedy })),
    subject: { actionType: action, ...compact({ agentId: agent, taskId }) },
    evaluatedRules,
    steps: approval ? [{ label: approval.id, status: 'info', message: `The approval is ${approval.status}.` }] : [],
    raw: {
      actor,
      ...compact({ also: asked.also, tools: asked.tools, project: asked.project }),
      facts: redactJson(facts, redact, bounds).value,
      reasons,
    },
    ...(once === undefined ? {} : { dedupeKey: `${once}\n${action}\n${decision}` }),
  };
}
