import type { AgentComparison } from '../../contracts/system/metrics';
import type { RunTally } from './run-tally';
import type { TokenTally } from './token-tally';

type Compared = AgentComparison['agents'][number];

/** The agent with the least of something; of several, the first by name. `null` without any. */
function least(agents: readonly Compared[], weight: (agent: Compared) => number): string | null {
  const sorted = [...agents].sort((a, b) => weight(a) - weight(b) || (a.agent < b.agent ? -1 : 1));
  return sorted[0]?.agent ?? null;
}

/** Compares the agents that have had enough runs. Tokens and cost of a run are those of the agent by its runs. */
export function compareAgents(
  runs: RunTally,
  tokens: TokenTally,
  minRuns: number,
): Omit<AgentComparison, 'period' | 'coverage'> {
  const names = runs.names;
  const agents = names.flatMap((agent): Compared[] => {
    const tally = runs.ofAgent(agent);
    if (!tally || tally.counts.runs < minRuns) {
      return [];
    }
    const { counts, durations } = tally;
    const used = tokens.ofAgent(agent);
    return [
      {
        agent,
        runs: counts.runs,
        successRate: counts.successRate,
        avgDurationMs: Math.round(durations.mean),
        p95DurationMs: Math.round(durations.at(0.95)),
        tokensPerRun: Math.round(used.totalTokens / counts.runs),
        costPerRun: Math.round((used.cost / counts.runs) * 1e9) / 1e9,
        totalCost: used.cost,
      },
    ];
  });
  agents.sort((a, b) => b.successRate - a.successRate || b.runs - a.runs || (a.agent < b.agent ? -1 : 1));
  return {
    minRuns,
    agents,
    omitted: names.length - agents.length + runs.otherAgents,
    best: {
      reliable: agents[0]?.agent ?? null,
      fastest: least(agents, ({ avgDurationMs }) => avgDurationMs),
      cheapest: least(
        agents.filter(({ totalCost }) => totalCost > 0),
        ({ costPerRun }) => costPerRun,
      ),
    },
  };
}
