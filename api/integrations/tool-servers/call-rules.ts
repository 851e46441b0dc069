import { decideTool, type ToolUse } from '../../../domain/tools/rules';
import { rulesOfRun } from '../../../domain/tools/rules-of-run';
import { AppError } from '../../../platform/errors/app-error';
import { toolRulings } from '../../../stores/governance/tool-rulings';
import type { CalledTool } from '../../../stores/integrations/called-tool';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';

export type CallRulesContext = Pick<WorkflowContext, 'rules' | 'routing' | 'phases' | 'now'>;

/** What rules may name: this tool of this server, and everything that is called through the board. */
const useOf = ({ server, tool }: CalledTool): ToolUse => ({
  kind: null,
  names: [`${server.serverId}/${tool.name}`, 'mcp'],
});

/**
 * Asks the limits of the run and the rules of the board about a call: the strictest counts.
 *
 * @param callId a call is counted and written down once, however often it is requested
 * @returns whether a person has to approve it
 * @throws AppError 403 `TOOL_FORBIDDEN`
 */
export async function needsApproval(
  context: CallRulesContext,
  { record, called, callId }: { record: AttemptRecord; called: CalledTool; callId: string },
): Promise<boolean> {
  const use = useOf(called);
  // An emergency whose time is over has ended, whether that is recorded or not.
  const phases = await context.phases.endEmergency(record._id, { now: context.now().toISOString() });
  const worktreePath = record.taskEnvelope?.workspace?.path ?? '';
  const limited = decideTool(rulesOfRun(record, phases, worktreePath), use);
  const verdict = limited.verdict === 'deny' ? limited : await toolRulings(context, record).ofUse(use, callId);
  if (verdict.verdict === 'deny') {
    throw new AppError('TOOL_FORBIDDEN', {
      status: 403,
      message: `The run may not call ${use.names[0]}: ${verdict.reason}`,
      details: { serverId: called.server.serverId, tool: called.tool.name, rule: verdict.rule, reason: verdict.reason },
    });
  }
  return limited.verdict === 'ask' || verdict.verdict === 'ask' || called.tool.policy === 'approval-required';
}
