import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { workflowToolCallId } from '../../../../workflows/workflow-tool-call/messages';
import { ledgerProgram } from '../../../support/factories/tool-server';
import type { Recording, Stage } from '../stage';

/** A run of a workflow of the board whose steps call tools: one that an administrator approves, and one that fails. */
export async function workflowToolScenarios({ service: { call }, dir }: Stage): Promise<Recording[]> {
  const transport = ledgerProgram(join(dir, 'workflow-ledger'));
  const server = 'workflow-ledger';
  const approvalRequiredTools = ['careful'];
  await call.ok('POST', '/api/tool-servers', { id: server, displayName: 'Ledger', transport, approvalRequiredTools });
  const step = (id: string, tool: string, fields: object = {}) => ({
    ...{ id, type: 'tool', server, tool, arguments: { line: id } },
    ...fields,
  });
  const again = { idempotent: true, on_fail: { retry: 1, retry_delay_ms: 1, escalate_to: 'skip' } };
  const steps = [step('approved', 'careful'), step('failing', 'fail', again)];
  await call.ok('POST', '/api/workflows', { id: 'tools', name: 'Tools', agents: [{ id: 'coder' }], steps });
  const { id } = await call.ok('POST', '/api/workflows/tools/runs', {});
  const read = () => call.ok('GET', `/api/workflows/runs/${id}`);
  const approval = await eventually(async () => {
    const [first] = (await read()).steps as { approvalId?: string }[];
    if (first?.approvalId === undefined) {
      throw new Error('No approval is requested yet.');
    }
    return first.approvalId;
  });
  await call.ok('POST', `/api/agents/permissions/approvals/${approval}`, { decision: 'approved' });
  const context = await eventually(async () => {
    const run = await read();
    if (run.status !== 'completed') {
      throw new Error(`The run is ${run.status}.`);
    }
    return run.context as Record<string, string>;
  });
  return [
    ['workflow-tool-call', workflowToolCallId(context['approved_call'] ?? '')],
    ['board-workflow-run-tools-2026-11', `workflow-run/${id}`],
  ];
}
