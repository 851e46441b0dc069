import type { CommandSandbox } from '../../commands/command-sandbox';
import type { Graph } from '../../graph/graph';
import { refuse } from '../../http/errors';
import type { RunDefaults } from '../defaults';
import { doesWork } from '../hooked-nodes';
import type { RunCreate } from './contracts';

/**
 * Checks the hooks of a run.
 *
 * @throws AppError 400 for one that this service cannot run, whose program is a value, or that is for a node that does nothing
 */
export async function assertHooks(
  { hooks = [] }: RunCreate,
  {
    graph,
    sandbox,
    defaults,
  }: { graph: Graph; sandbox: CommandSandbox | undefined; defaults?: RunDefaults | undefined },
): Promise<void> {
  if (hooks.length === 0) {
    return;
  }
  if (!sandbox) {
    throw refuse(400, 'hooks: commands are not run here: WORKFLOW_RUNS_SANDBOX_PRESETS is not set.');
  }
  hooks.forEach(({ command: [program = ''], nodes = [] }, at) => {
    if (program.includes('$')) {
      throw refuse(400, `hooks.${at}.command.0: the program must be written out: only its arguments hold values.`);
    }
    const idle = nodes.findIndex((id) => !doesWork(graph.nodes[id]));
    if (idle >= 0) {
      const id = nodes[idle] ?? '';
      const why = Object.hasOwn(graph.nodes, id) ? 'does no work' : 'is not in the graph';
      throw refuse(400, `hooks.${at}.nodes.${idle}: ${JSON.stringify(id)} ${why}.`);
    }
  });
  const problem = await sandbox.problem(defaults?.sandbox ?? sandbox.presets[0]);
  if (problem !== undefined) {
    throw refuse(400, `hooks: ${problem}`);
  }
}
