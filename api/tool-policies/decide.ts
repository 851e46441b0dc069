import type { EvaluatedRule } from '../../contracts/governance-trace';
import type { ToolPolicy } from '../../contracts/tool-policy';
import { matchesName } from '../governance/matches-name';

export interface ToolDecision {
  allowed: boolean;
  /** Every pattern in the order it was looked at, those that deny first. */
  rules: EvaluatedRule[];
}

/** Whether a role may use a tool: what is denied is refused whatever is allowed, and so is what nothing allows. */
export function decideTool({ allowed, denied }: Pick<ToolPolicy, 'allowed' | 'denied'>, tool: string): ToolDecision {
  const isDenied = denied.some((pattern) => matchesName(pattern, tool));
  const rule = (list: 'allowed' | 'denied', pattern: string, index: number, looked: boolean): EvaluatedRule => {
    const matched = matchesName(pattern, tool);
    return {
      id: `${list}.${index}`,
      label: pattern,
      type: list,
      status: looked ? (matched ? 'matched' : 'not-matched') : 'skipped',
      ...(looked && matched ? { outcome: list === 'denied' ? ('blocked' as const) : ('allowed' as const) } : {}),
      message: looked ? `${pattern} ${matched ? 'is' : 'is not'} about ${tool}.` : 'The tool was denied before.',
    };
  };
  return {
    allowed: !isDenied && allowed.some((pattern) => matchesName(pattern, tool)),
    rules: [
      ...denied.map((pattern, index) => rule('denied', pattern, index, true)),
      ...allowed.map((pattern, index) => rule('allowed', pattern, index, !isDenied)),
    ],
  };
}
