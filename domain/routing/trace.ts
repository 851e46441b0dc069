import type { TraceInput } from '../../contracts/governance/trace';
import { compact } from '../../platform/json/compact';
import type { RouteDecision } from './decide';

/** What a routing decision writes down. */
export function routeTrace(
  decision: RouteDecision,
  { taskId, actionType }: { taskId?: string; actionType: string },
): TraceInput {
  const { outcome, reason, evaluated, tried, selected, rule, question, routingEnabled, candidates } = decision;
  const agentId = selected?.agent.type ?? tried[0]?.agent ?? undefined;
  return {
    kind: 'routing',
    outcome,
    title: selected ? `Work goes to ${selected.agent.type}` : 'No agent is available for the work',
    summary: reason,
    ...(selected ? {} : { remediation: routeRemediation }),
    subject: {
      ...compact({ agentId, taskId }),
      actionType,
    },
    evaluatedRules: evaluated.map((each) => (each.status === 'matched' ? { ...each, outcome } : each)),
    steps: tried.map(({ agent, problem }) => ({
      label: agent ?? 'no agent',
      status: problem === undefined ? 'matched' : 'not-matched',
      message: problem ?? 'It is available.',
    })),
    raw: { work: question.work, requiredRuntimeCapabilities: question.required, rule, routingEnabled, candidates },
  };
}

export const routeRemediation =
  'Enable or repair the agent, route the work to another one, or require fewer capabilities.';
