import { eventually } from '../../../../platform/testing/eventually';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import type { Recorder } from './runs';

const graph = `digraph Hooked { start -> p; p [shape=component]; j [shape=tripleoctagon]; p -> a -> j; p -> b -> j; j -> exit
  a [type=command, command="true"]; b [type=wait, duration="10ms"] }`;
const every = ['run_start', 'run_complete', 'run_failed', 'stage_start', 'stage_complete', 'stage_failed'];
const hooks = every.map((event) => ({ event, command: ['true'] }));

/** Records a run whose hooks succeed, in branches and behind a setup, and one that a hook has failed. */
export async function recordHooked({ call, keepOne }: Pick<Recorder, 'call' | 'keepOne'>): Promise<void> {
  const json = async (path: string, body?: unknown) =>
    (await (await call(path, body)).json()) as { id: string; status: string };
  for (const [name, list] of [
    ['run-hooked', hooks],
    ['run-hook-failed', [{ event: 'stage_start', nodes: ['a'], command: ['false'] }, ...hooks]],
  ] as const) {
    const setup = { commands: [['true']] };
    const { id } = await json('/runs', { dot_source: graph, hooks: list, setup });
    await eventually(async () => {
      if ((await json(`/runs/${id}`)).status === 'queued') {
        throw new Error('It has not started yet.');
      }
    });
    await keepOne(runWorkflowId(id), name);
  }
}
