import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { ledgerProgram } from '../../../support/factories/tool-server';
import type { ReplyPart } from '../../../support/models/provider';
import type { Service } from '../../../support/stack/service';
import type { Recorder } from './runs';

const graph = 'digraph Tools { start -> ask -> exit; ask [prompt="Write", tools=ledger] }';

const calling = (tool: string, id: string): ReplyPart => ({ tool: `ledger__${tool}`, id, input: { line: id } });

interface ToolRecorder extends Pick<Recorder, 'call' | 'keepOne' | 'provider'> {
  board: Service;
  /** Writes the histories of the turns of a session, the oldest first. */
  keepSession: (id: string, ...names: string[]) => Promise<void>;
}

/** Records a session and a run whose model calls tools: one call that is made, one that a person approves, one that is refused. */
export async function recordTools({ board, call, keepOne, keepSession, provider }: ToolRecorder): Promise<void> {
  const post = async (path: string, body: unknown) => (await (await call(path, body)).json()) as { id: string };
  await board.call.ok('POST', '/api/tool-servers', {
    ...{ id: 'ledger', displayName: 'Ledger', transport: ledgerProgram(join(board.dir, 'ledger')) },
    approvalRequiredTools: ['careful'],
  });
  const answersInTurn = (...answers: ReplyPart[][]): void => {
    let asked = 0;
    provider.answers(() => answers[Math.min((asked += 1), answers.length) - 1] ?? []);
  };
  const approve = () =>
    eventually(async () => {
      const [approval] = await board.call.ok('GET', '/api/agents/permissions/approvals');
      if (!approval) {
        throw new Error('No approval is asked for yet.');
      }
      await board.call.ok('POST', `/api/agents/permissions/approvals/${approval.id}`, { decision: 'approved' });
    });
  const turns = () =>
    answersInTurn(
      [calling('append', 'one'), calling('none', 'two')],
      [calling('careful', 'three')],
      ['All is written.'],
    );

  turns();
  const session = await post('/sessions', { content: 'Write', tools: ['ledger'] });
  await approve();
  await keepSession(session.id, 'session-tools');

  turns();
  const run = await post('/runs', { dot_source: graph });
  await approve();
  await keepOne(runWorkflowId(run.id), 'run-prompt-tools');
}
