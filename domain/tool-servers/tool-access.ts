import type { ToolAccess, ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { matchesName } from '../governance/matches-name';

type Lists = Pick<ToolServerDefinition, 'allowedTools' | 'deniedTools' | 'approvalRequiredTools' | 'approvalMode'>;

/** What a definition makes of a call of the tool: the strictest of its lists that has it. */
export function toolAccessOf(definition: Lists, tool: string): ToolAccess {
  const has = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesName(pattern, tool));
  if (has(definition.deniedTools) || !has(definition.allowedTools)) {
    return 'denied';
  }
  const needsApproval = definition.approvalMode === 'always' || has(definition.approvalRequiredTools);
  return needsApproval ? 'approval-required' : 'allowed';
}
