import type { ToolPolicy } from '../../contracts/governance/tool-policy';
import type { EvaluatedRule } from '../../contracts/governance/trace';
import { matchesName } from './matches-name';

export interface ToolDecision {
  allowed: boolean;
  /** Every pattern in the order of evaluation, those that deny first. */
  rules: EvaluatedRule[];
}

/** Whether a tool may be used that goes by any of these names: one that is denied is not, whatever is allowed. */
export function judgeTool(
  { allowed, denied }: Pick<ToolPolicy, 'allowed' | 'denied'>,
  names: readonly string[],
): { denied: string | undefined; isAllowed: boolean } {
  const matching = (patterns: readonly string[]) =>
    patterns.find((pattern) => names.some((name) => matchesName(pattern, name)));
  const denying = matching(denied);
  return { denied: denying, isAllowed: denying === undefined && matching(allowed) !== undefined };
}

/** Whether a role may use a tool: a denied tool is refused whatever is allowed, and so is one that nothing allows. */
export function decideTool(policy: Pick<ToolPolicy, 'allowed' | 'denied'>, tool: string): ToolDecision {
  const { allowed, denied } = policy;
  const judged = judgeTool(policy, [tool]);
  const isDenied = judged.denied !== undefined;
  const rule = (
    list: 'allowed' | 'denied',
    pattern: string,
    { index, evaluated }: { index: number; evaluated: boolean },
  ): EvaluatedRule => {
    const matched = matchesName(pattern, tool);
    return {
      id: `${list}.${index}`,
      label: pattern,
      type: list,
      status: evaluated ? (matched ? 'matched' : 'not-matched') : 'skipped',
      ...(evaluated && matched ? { outcome: list === 'denied' ? ('blocked' as const) : ('allowed' as const) } : {}),
      message: evaluated ? `${pattern} ${matched ? 'is' : 'is not'} about ${tool}.` : 'Another policy denies the tool.',
    };
  };
  return {
    allowed: judged.isAllowed,
    rules: [
      ...denied.map((pattern, index) => rule('denied', pattern, { index, evaluated: true })),
      ...allowed.map((pattern, index) => rule('allowed', pattern, { index, evaluated: !isDenied })),
    ],
  };
}
