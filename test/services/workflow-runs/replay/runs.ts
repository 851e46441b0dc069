import { eventually } from '../../../../platform/testing/eventually';

/** What a recording of runs is made with. */
export interface Recorder {
  call: (path: string, body?: unknown) => Promise<Response>;
  /** Writes the history of a workflow that has ended, or ends soon. */
  /** Writes the history of a workflow as it is. */
  keepNow: (workflowId: string, name: string) => Promise<void>;
  keepOne: (workflowId: string, name: string) => Promise<void>;
}

const asked = `digraph Asked { start -> ask -> p; ask [shape=hexagon]; p [shape=component]; j [shape=tripleoctagon]
  p -> a -> j; p -> w -> j; j -> exit; a [prompt="Hi"]; w [type=wait, duration="10ms"] }`;
const late = 'digraph Late { start -> ask -> exit; ask [shape=hexagon, timeout="10ms"] }';

/** Records a run that is paused, steered and answered, one cancelled in the middle, one that waited, one that failed. */
export async function recordRuns({ call, keepOne, keepNow }: Recorder): Promise<void> {
  const json = async (path: string, body?: unknown) => (await (await call(path, body)).json()) as Run;
  const start = async (dot_source: string): Promise<string> => (await json('/runs', { dot_source })).id;
  const untilAsked = (id: string) =>
    eventually(async () => {
      if ((await json(`/runs/${id}/questions`)).data.length === 0) {
        throw new Error('It has not asked yet.');
      }
    });

  const first = await start(asked);
  await untilAsked(first);
  const waiting = await start(asked);
  await json(`/runs/${waiting}/cancel`, {});
  await json(`/runs/${first}/pause`, {});
  await json(`/runs/${first}/unpause`, {});
  await call(`/runs/${first}/steer`, { guidance: 'Be brief' });
  await call(`/runs/${first}/questions/ask/answer`, { value: 'go' });
  await keepOne(`workflow-run/${first}`, 'run-completed');
  await keepOne(`workflow-run/${waiting}`, 'run-cancelled-queued');

  const second = await start(asked);
  await untilAsked(second);
  await json(`/runs/${second}/cancel`, {});
  await keepOne(`workflow-run/${second}`, 'run-cancelled');

  const third = await start(late);
  await eventually(async () => {
    if ((await json(`/runs/${third}`)).status !== 'failed') {
      throw new Error('It has not failed yet.');
    }
  });
  await keepOne(`workflow-run/${third}`, 'run-failed');
  await keepNow('workflow-runs/dispatch', 'dispatch');
}

interface Run {
  id: string;
  status: string;
  data: unknown[];
}
