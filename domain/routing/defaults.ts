import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { RoutingConfiguration, RoutingRule } from '../../contracts/settings/routing';
import { compact } from '../../platform/json/compact';

/**
 * The routing configuration of a board without a stored one: every kind of work goes to the default agent; urgent code and bugs
 * may go to the next enabled agent of the same provider, never to one that runs elsewhere.
 */
export function defaultRouting(
  agents: AgentConfig[],
  defaultAgent: string | null,
  maxRetries = 1,
): RoutingConfiguration {
  return {
    enabled: true,
    rules: defaultAgent === null ? [] : defaultRules(agents, defaultAgent),
    defaultAgent,
    fallbackOnFailure: true,
    maxRetries,
  };
}

function defaultRules(agents: AgentConfig[], agent: string): RoutingRule[] {
  const provider = agents.find(({ type }) => type === agent)?.provider;
  const second = agents.find((each) => each.enabled && each.type !== agent && each.provider === provider)?.type;
  const rule = (
    id: string,
    name: string,
    { match, fallback }: { match: RoutingRule['match']; fallback?: string },
  ): RoutingRule => ({
    id,
    name,
    match,
    agent,
    ...compact({ fallback }),
    enabled: true,
  });
  return [
    rule('code-high', 'Urgent code', { match: { type: 'code', priority: 'high' }, fallback: second }),
    rule('code-default', 'Code', { match: { type: 'code' } }),
    rule('bug-high', 'Urgent bugs', { match: { type: 'bug', priority: 'high' }, fallback: second }),
    rule('docs', 'Documentation', { match: { type: 'docs' } }),
    rule('review', 'Reviews', { match: { type: 'review' } }),
  ];
}
