import { eventually } from '../../../../platform/testing/eventually';
import { aGate, type Provider } from '../../../support/models/provider';

/** What a recording of runs is made with. */
export interface Recorder {
  call: (path: string, body?: unknown) => Promise<Response>;
  /** Writes the history of a workflow as it is. */
  keepNow: (workflowId: string, name: string) => Promise<void>;
  /** Writes the history of a workflow that has ended, or ends soon. */
  keepOne: (workflowId: string, name: string) => Promise<void>;
  /** Writes the histories of the executions that a query finds, the oldest first, when they have ended. */
  keepEach: (query: string, names: string[]) => Promise<void>;
  provider: Provider;
}

const asked = `digraph Asked { start -> ask -> p; ask [shape=hexagon]; p [shape=component]; j [shape=tripleoctagon]
  p -> a -> j; p -> w -> j; j -> exit; a [prompt="Hi"]; w [type=wait, duration="10ms"] }`;
const late = 'digraph Late { start -> ask -> exit; ask [shape=hexagon, timeout="10ms"] }';

const prompting = 'digraph Prompting { start -> ask -> exit; ask [prompt="Hi"] }';
/** How often a run is paused until its history is too long, with a limit of 150 events. */
const pauses = 12;

/**
 * Records a run that is paused, steered and answered, one cancelled in the middle, one that was queued, one that failed, one that
 * continued as new.
 */
export async function recordRuns({ call, keepOne, keepNow, keepEach, provider }: Recorder): Promise<void> {
  const json = async (path: string, body?: unknown) => (await (await call(path, body)).json()) as Run;
  const start = async (dot_source: string): Promise<string> => (await json('/runs', { dot_source })).id;
  const untilAsked = (id: string) =>
    eventually(async () => {
      if ((await json(`/runs/${id}/questions`)).data.length === 0) {
        throw new Error('It has not asked yet.');
      }
    });

  // A run that waits for a person leaves the next one its place: this one waits for a model.
  const gate = aGate();
  provider.answers(async function* () {
    await gate.opened;
    yield 'Hello';
  });
  const working = await start(prompting);
  await eventually(async () => {
    if ((await json(`/runs/${working}`)).status !== 'running') {
      throw new Error('It does not run yet.');
    }
  });
  const queued = await start(asked);
  await json(`/runs/${queued}/cancel`, {});
  await keepOne(`workflow-run/${queued}`, 'run-cancelled-queued');
  gate.open();

  const first = await start(asked);
  await untilAsked(first);
  await json(`/runs/${first}/pause`, {});
  await json(`/runs/${first}/unpause`, {});
  await call(`/runs/${first}/steer`, { guidance: 'Be brief' });
  await call(`/runs/${first}/questions/ask/answer`, { value: 'go' });
  await keepOne(`workflow-run/${first}`, 'run-completed');

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

  const fourth = await start(asked);
  await untilAsked(fourth);
  for (let time = 0; time < pauses; time += 1) {
    await json(`/runs/${fourth}/pause`, {});
    await json(`/runs/${fourth}/unpause`, {});
  }
  await call(`/runs/${fourth}/questions/ask/answer`, { value: 'go' });
  await eventually(async () => {
    if ((await json(`/runs/${fourth}`)).status !== 'completed') {
      throw new Error('It has not ended yet.');
    }
  });
  await keepEach(`WorkflowId = "workflow-run/${fourth}"`, ['run-continued', 'run-continuing']);
  await keepNow('workflow-runs/dispatch', 'dispatch');
}

interface Run {
  id: string;
  status: string;
  data: unknown[];
}
