import { eventually } from '../../../../platform/testing/eventually';
import type { Recorder } from './runs';

const child = `digraph Recorded { start -> ok -> a -> exit; ok [shape=hexagon, timeout="1s"]
  ok -> a [condition="outcome=fail"]; a [prompt="Hi \${name}", output_schema="{\\"type\\":\\"array\\"}"] }`;
const parent = `digraph Tree { budget_tokens=1000000; start -> l -> m -> each -> exit
  l [prompt="List", output_schema="{\\"type\\":\\"array\\"}"]
  m [type=map, items=l_output, concurrency=2, prompt="Read \${item}"]
  each [type=map, items=l_output, each=child, workflow=recorded, vars="name=item", concurrency=2] }`;

/** Records a run with maps and child runs that is paused and steered while they are under way, one of its child runs, and one that is cancelled. */
export async function recordTrees({ call, keepOne, provider }: Recorder): Promise<void> {
  const json = async (path: string, body?: unknown) => (await (await call(path, body)).json()) as Answer;
  const untilEnded = (id: string) =>
    eventually(async () => {
      if (!['completed', 'failed', 'cancelled'].includes((await json(`/runs/${id}`)).status)) {
        throw new Error('It has not ended yet.');
      }
    });
  const untilChild = (id: string) =>
    eventually(async () => {
      const running = (await json(`/runs?parent=${id}`)).data.find(({ status }) => status === 'running');
      if (!running) {
        throw new Error('It has no child run yet.');
      }
      return running.id;
    });
  const start = async (dot_source: string): Promise<string> => (await json('/runs', { dot_source })).id;

  provider.answers(() => ['["a","b"]']);
  await untilEnded(await start(child));
  const tree = await start(parent);
  const first = await untilChild(tree);
  await json(`/runs/${tree}/pause`, {});
  await json(`/runs/${tree}/unpause`, {});
  await call(`/runs/${tree}/steer`, { guidance: 'Be brief' });
  await keepOne(`workflow-run/${tree}`, 'run-tree');
  await keepOne(`workflow-run/${first}`, 'run-child');

  const cancelled = await start(parent);
  await untilChild(cancelled);
  await json(`/runs/${cancelled}/cancel`, {});
  await keepOne(`workflow-run/${cancelled}`, 'run-tree-cancelled');
}

interface Answer {
  id: string;
  status: string;
  data: { id: string; status: string }[];
}
