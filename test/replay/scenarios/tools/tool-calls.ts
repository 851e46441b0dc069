import { join } from 'node:path';
import { toolCallWorkflowId } from '../../../../workflows/tool-call/messages';
import { ledgerProgram } from '../../../support/factories/tool-server';
import { endToolRun, startToolRun } from '../../../support/runs/tool-run';
import type { Recording, Stage } from '../stage';

/** A call of a tool by the worker that supervises the agent of its run. */
export async function toolScenarios({ service: { call }, dir }: Stage): Promise<Recording[]> {
  const transport = ledgerProgram(join(dir, 'ledger'));
  await call.ok('POST', '/api/tool-servers', { id: 'ledger', displayName: 'Ledger', transport });
  const run = await startToolRun(call, 'tool-user', join(dir, 'bridge.json'));
  const { taskId, attemptId, catalogDigest } = run;
  const { id } = await call.ok('POST', '/api/tool-servers/call', {
    ...{ taskId, attemptId, catalogDigest, operationId: 'recorded-operation' },
    ...{ serverId: 'ledger', tool: 'append', arguments: { line: 'recorded' } },
  });
  await endToolRun(call, run);
  return [['tool-call', toolCallWorkflowId(id)]];
}
