import { compact } from '../../../../platform/json/compact';
import type { WorkflowRunsContext } from '../../context';
import { offerOf, toolTurns } from '../../graph/kinds/prompt-tools';
import { serversOf } from '../../graph/tool-servers';
import { refuse } from '../../http/errors';
import { readGraph } from '../../runs/http/read-graph';
import type { NewSession, SessionTools } from '../session';

/**
 * What the model of a new session may call; `undefined` for nothing.
 *
 * @throws AppError 400 no board is there, or the run has no such server; 404 no such run
 */
export async function sessionTools(
  { board, runs, graphs }: Pick<WorkflowRunsContext, 'board' | 'runs' | 'graphs'>,
  session: string,
  { tools: names, run, max_turns: maxTurns = toolTurns.usual }: NewSession,
): Promise<SessionTools | undefined> {
  if (!names) {
    return undefined;
  }
  if (!board) {
    throw refuse(400, 'tools: they are not called here: WORKFLOW_RUNS_BOARD_URL is not set.');
  }
  const offers = names.flatMap((name) => offerOf(name) ?? []);
  const named = [...new Set(offers.map(({ server }) => server))];
  if (run === undefined) {
    return { names, offers, owner: session, servers: named, maxTurns };
  }
  const found = await runs.get(run);
  if (!found) {
    throw refuse(404, 'Run not found.');
  }
  const servers = serversOf(await readGraph(graphs, found.dot_source));
  const strange = named.find((server) => !servers.includes(server));
  if (strange !== undefined) {
    throw refuse(400, `tools: the run has no tool server ${strange}.`);
  }
  return { names, offers, owner: run, servers, maxTurns, ...compact({ run }) };
}
