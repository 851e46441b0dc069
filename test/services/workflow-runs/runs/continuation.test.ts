import { createMessageProofs } from '../../../../platform/crypto/message-proof';
import { eventually } from '../../../../platform/testing/eventually';
import { runMessage, runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { aGate } from '../../../support/models/provider';
import { startWithModels, type WithModels } from '../models-under-test';
import { openStoredRuns } from '../stored-runs';
import { aRunClient, type RunClient } from './run-client';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  models = await startWithModels({ WORKFLOW_RUNS_CONCURRENCY: '5', WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(() => models.close());

/** The histories of a run's executions, the oldest first, by their numbers of events. */
async function executionsOf(id: string): Promise<number[]> {
  const { workflow } = models.service.temporal.client;
  const found = [];
  for await (const { startTime, historyLength } of workflow.list({ query: `WorkflowId = "${runWorkflowId(id)}"` })) {
    found.push({ startTime, historyLength });
  }
  return found.sort((a, b) => +a.startTime - +b.startTime).map(({ historyLength }) => historyLength);
}
const untilContinued = (id: string, executions = 2) =>
  eventually(async () => expect((await executionsOf(id)).length).toBeGreaterThanOrEqual(executions));

/** Makes the history of a run longer, by messages that change nothing in the end. */
async function lengthen(id: string, times = 12): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await runs.post(`/runs/${id}/pause`, {}, 200);
    await runs.post(`/runs/${id}/unpause`, {}, 200);
  }
}

describe('a run with a long history', () => {
  test('continues as new between its prompts, and ends with every stage done once', async () => {
    const id = await runs.start(
      'digraph { start -> a; a [prompt="Hi", max_visits=40]; a -> b [weight=1, max_traversals=30]; b [prompt="There"]; b -> a; a -> exit }',
    );
    await runs.untilStatus(id, 'completed');
    const stages = await runs.stages(id);
    const visits = (node: string) => stages.filter(({ dot_id }) => dot_id === node).map((stage) => stage.id);
    expect(visits('a')).toEqual(['a', ...Array.from({ length: 30 }, (_, n) => `a.${n + 2}`)]);
    expect(visits('b')).toHaveLength(30);
    expect(stages.every(({ status }) => status === 'completed')).toBe(true);
    const lengths = await executionsOf(id);
    expect(lengths.length).toBeGreaterThan(2);
    expect(Math.max(...lengths)).toBeLessThan(150);
    const events = await runs.eventNames(id);
    expect(events.filter((name) => name === 'RunStarted')).toHaveLength(1);
    expect(events.filter((name) => name === 'StageStarted')).toHaveLength(63);
  });

  test('keeps its questions, timers, values and branches, and takes messages by its id', async () => {
    const id =
      await runs.start(`digraph { goal="Ship"; start -> first -> p; first [prompt="Hi"]; p [shape=component]; j [shape=tripleoctagon]
      p -> left -> last -> j; p -> right -> j; p -> rest -> j; j -> exit
      left [shape=hexagon, label="Left \${first_output}?"]; right [shape=hexagon, label="Right?"]; rest [type=wait, duration="3s"]
      last [prompt="\${first_output} \${left_answer}"] }`);
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(2));
    await runs.post(`/runs/${id}/steer`, { guidance: 'Be brief' }, 202);
    const before = await runs.questions(id);
    await lengthen(id);
    await untilContinued(id);
    expect(await runs.questions(id)).toEqual(before);
    expect(before).toContainEqual(expect.objectContaining({ id: 'left', text: 'Left well?' }));
    await runs.post(`/runs/${id}/steer`, { guidance: 'Be kind' }, 202);
    await runs.post(`/runs/${id}/questions/left/answer`, { value: 'l' }, 204);
    await eventually(async () =>
      expect((await runs.get(`/runs/${id}/stages/last/turns`)).data?.[0]?.content).toBe(
        'well l\n\nGuidance given since the run began:\n- Be brief\n- Be kind',
      ),
    );
    await lengthen(id);
    await untilContinued(id, 3);
    await runs.post(`/runs/${id}/questions/right/answer`, { value: 'r' }, 204);
    await runs.untilStatus(id, 'completed');
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({
      left_answer: 'l',
      right_answer: 'r',
      last_output: 'well',
    });
    const stages = await runs.stages(id);
    expect(stages.map((stage) => stage.id).sort()).toEqual(
      ['start', 'first', 'p', 'left', 'right', 'rest', 'last', 'j', 'exit'].sort(),
    );
    expect(stages.find((stage) => stage.id === 'rest')?.duration_secs).toBeGreaterThanOrEqual(2.9);
    const events = await runs.eventNames(id);
    expect(events.filter((name) => name === 'InterviewStarted')).toHaveLength(2);
    expect(events.filter((name) => name === 'ParallelStarted')).toHaveLength(1);
  });

  test('stays paused, and is cancelled with what waits', async () => {
    const id = await runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }');
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await lengthen(id);
    await runs.post(`/runs/${id}/pause`, {}, 200);
    await untilContinued(id);
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'paused' });
    await runs.post(`/runs/${id}/unpause`, {}, 200);
    await runs.post(`/runs/${id}/cancel`, {}, 200);
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'cancelled' });
    expect((await runs.stages(id)).at(-1)).toMatchObject({ id: 'ok', status: 'cancelled' });
    expect(await runs.questions(id)).toEqual([]);
  });

  test('leaves no continuation behind, however it ends', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(() => runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }')),
    );
    const [completed, cancelled, terminated] = ids as [string, string, string];
    for (const id of ids) {
      await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
      await lengthen(id);
      await untilContinued(id);
    }
    const { database } = await openStoredRuns(models.service);
    try {
      const continuations = await database.collection({ name: 'workflow-run-continuations' });
      const stored = () => continuations.count({ _id: { $in: ids } });
      expect(await stored()).toBe(3);
      await runs.post(`/runs/${completed}/questions/ok/answer`, { value: 'o' }, 204);
      await eventually(async () => expect(await stored()).toBe(2));
      await runs.post(`/runs/${cancelled}/cancel`, {}, 200);
      await eventually(async () => expect(await stored()).toBe(1));
      await models.service.temporal.client.workflow.getHandle(runWorkflowId(terminated)).terminate();
      // Another run has the active ones looked up.
      await runs.start('digraph { start -> exit }');
      await runs.untilStatus(terminated, 'failed');
      await eventually(async () => expect(await stored()).toBe(0));
    } finally {
      await database.close();
    }
  });

  test('lets the prompt under way end before, and counts its attempts on', async () => {
    const gate = aGate();
    let calls = 0;
    models.provider.answers(async function* () {
      calls += 1;
      await gate.opened;
      if (calls === 1) {
        yield { error: { type: 'overloaded_error', message: 'Overloaded' } };
      }
      yield 'well';
    });
    const id = await runs.start('digraph { start -> ask -> exit; ask [prompt="Hi", max_retries=1] }');
    await eventually(() => expect(calls).toBe(1));
    await lengthen(id);
    expect(await executionsOf(id)).toHaveLength(1);
    gate.open();
    await runs.untilStatus(id, 'completed');
    expect(await executionsOf(id)).toHaveLength(2);
    expect((await runs.stages(id))[1]).toMatchObject({ id: 'ask', retries: 1 });
    expect(calls).toBe(2);
  });

  test('is continued by itself only: a forged continuation is refused', async () => {
    const { workflow } = models.service.temporal.client;
    const id = await runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }');
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await lengthen(id);
    await untilContinued(id);
    const handle = workflow.getHandle(runWorkflowId(id));
    const { taskQueue } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const input = JSON.parse(Buffer.from(payload?.data ?? []).toString());
    await runs.post(`/runs/${id}/cancel`, {}, 200);
    await handle.result();
    const options = { workflowId: runWorkflowId(id), taskQueue };
    const { proof, ...body } = input;
    const other = { ...body, state: { ...body.state, cursor: { at: 'exit' } } };
    const forged = createMessageProofs(Buffer.alloc(32)).sign(runMessage('continue', id, other), 60_000);
    for (const sent of [{ ...other, proof: forged }, { ...other, proof }, other]) {
      await expect(workflow.execute('workflowRun', { ...options, args: [sent] })).rejects.toMatchObject({
        cause: { type: 'MESSAGE_UNPROVEN' },
      });
    }
    // One that was proven once, and is sent again, changes nothing of the run that has ended.
    await expect(workflow.execute('workflowRun', { ...options, args: [input] })).rejects.toBeDefined();
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'cancelled' });
  });
});

test('a loop of 2,000 visits ends, and its stages are all read', async () => {
  const id = await runs.start(
    'digraph { loop_limit=2001; start -> a; a [shape=diamond]; b [shape=diamond]; a -> b [weight=1, max_traversals=2000]; b -> a; a -> exit }',
  );
  await runs.untilStatus(id, 'completed');
  const stages = await runs.stages(id);
  expect(stages).toHaveLength(4_003);
  expect(new Set(stages.map((stage) => stage.id)).size).toBe(4_003);
  expect(stages.at(-1)).toMatchObject({ id: 'exit', status: 'completed' });
  expect(Math.max(...(await executionsOf(id)))).toBeLessThan(4_000);
});

describe('guidance', () => {
  test('is refused beyond its limit, and fails no prompt', async () => {
    const id = await runs.start(
      `digraph { start -> ok -> write -> exit; ok [shape=hexagon]; write [prompt="\${ok_answer}"] }`,
    );
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    const guidance = 'x'.repeat(9_999);
    await runs.post(`/runs/${id}/steer`, { guidance }, 202);
    const sent = await Promise.all([1, 2, 3].map(() => models.service.call('POST', `/runs/${id}/steer`, { guidance })));
    expect(sent.map(({ status }) => status).sort()).toEqual([202, 429, 429]);
    expect(sent.find(({ status }) => status === 429)?.body.errors[0].detail).toContain('20,000 characters altogether');
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'y'.repeat(10_000) }, 204);
    await runs.untilStatus(id, 'completed');
    const [{ content }] = (await runs.get(`/runs/${id}/stages/write/turns`)).data;
    expect(content.length).toBeGreaterThan(29_998);
  });

  test('of 20,000 characters fails no prompt of a model with a small context: what fits goes with it', async () => {
    const refused = { status: 400, body: { error: { message: 'The context of 1,000 tokens is exceeded.' } } };
    models.provider.answers(({ body }) => (JSON.stringify(body.messages).length > 4_000 ? refused : ['well']));
    const id = await runs.start(
      'digraph { start -> ok -> write -> exit; ok [shape=hexagon]; write [model="tiny", prompt="Write."] }',
    );
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await runs.post(`/runs/${id}/steer`, { guidance: `Earlier ${'x'.repeat(9_990)}` }, 202);
    await runs.post(`/runs/${id}/steer`, { guidance: `Latest ${'y'.repeat(9_990)}` }, 202);
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'o' }, 204);
    await runs.untilStatus(id, 'completed');
    const [{ content }] = (await runs.get(`/runs/${id}/stages/write/turns`)).data;
    expect(content).toContain('Write.');
    expect(content).toContain('Latest yyy');
    expect(content).toContain('Earlier guidance is left out');
    expect(content).not.toContain('xxx');
  });
});
