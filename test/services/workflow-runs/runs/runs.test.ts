import { createMessageProofs } from '../../../../platform/crypto/message-proof';
import { eventually } from '../../../../platform/testing/eventually';
import { runMessage, runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { aGate } from '../../../support/models/provider';
import { startWithModels } from '../models-under-test';
import { asking } from '../run-client';
import { repeatingRuns } from './repeating-runs';

const { start, get, untilStatus, question, answer, eventsOf, models, service } = repeatingRuns({
  WORKFLOW_RUNS_CONCURRENCY: '2',
});

describe('a run', () => {
  it('goes from its start to its exit, and is read on the way', async () => {
    const id = await start(`digraph Release {
      graph [goal="Ship it"]
      start -> draft -> polish -> exit
      draft [label="Draft", prompt="Write about $goal"]
      polish [prompt="Polish: \${draft_output}"]
    }`);
    expect(id).toMatch(/^[0-9A-Z]{26}$/);
    const run = await untilStatus(id, 'completed');
    expect(run).toMatchObject({ id, title: 'Ship it', workflow: { name: 'Release', slug: 'release' } });
    const { data: stages } = await get(`/runs/${id}/stages`);
    expect(stages.map((stage: Record<string, string>) => [stage.id, stage.name, stage.status, stage.dot_id])).toEqual([
      ['start', 'start', 'completed', 'start'],
      ['draft', 'Draft', 'completed', 'draft'],
      ['polish', 'polish', 'completed', 'polish'],
      ['exit', 'exit', 'completed', 'exit'],
    ]);
    expect(await get(`/runs/${id}/context`)).toEqual({
      draft_output: 'said: Write about Ship it',
      polish_output: 'said: Polish: said: Write about Ship it',
      last_output: 'said: Polish: said: Write about Ship it',
    });
    expect(await get(`/runs/${id}/checkpoint`)).toMatchObject({
      current_node: 'polish',
      next_node_id: 'exit',
      completed_nodes: ['start', 'draft', 'polish'],
      context_values: { draft_output: 'said: Write about Ship it' },
      node_outcomes: { draft: 'completed' },
    });
    expect((await get(`/runs/${id}/stages/draft/turns`)).data).toEqual([
      { kind: 'user', content: 'Write about Ship it' },
      { kind: 'assistant', content: 'said: Write about Ship it' },
    ]);
    expect(await get(`/runs/${id}/configuration`)).toMatchObject({ version: 1, goal: 'Ship it' });
    expect(await get(`/runs/${id}/retro`)).toMatchObject({ run_id: id, smoothness: 'effortless' });
    expect((await get('/retros?workflow=release')).data).toMatchObject([{ run: { id } }]);
    expect(await get('/usage')).toMatchObject({ totals: { runs: expect.any(Number) } });
  });

  it('is drawn with what came of its nodes, and nothing of its text', async () => {
    const id = await start(
      'digraph { start -> a -> exit; a [label="<b>", URL="javascript:alert(1)", image="/etc/passwd"] }',
    );
    await untilStatus(id, 'completed');
    const { headers, body } = await service().call('GET', `/runs/${id}/graph`);
    expect(headers.get('Content-Type')).toContain('image/svg+xml');
    expect(headers.get('Content-Security-Policy')).toContain('sandbox');
    expect(body).toContain('<svg');
    expect(body).toContain('#bbf7d0');
    expect(body).not.toMatch(/javascript|passwd|<b>/);
  });

  it('is published as events, from the first or from the last one seen, up to its end', async () => {
    const id = await start(asking);
    const whole = eventsOf(id);
    const { id: qid } = await question(id);
    await answer(id, qid, { selected_option_key: 'yes' });
    const events = await whole;
    const names = events.map(({ event }) => Object.keys(event)[0]);
    expect(names.filter((name) => name !== 'CheckpointSaved')).toEqual([
      ...['RunStarted', 'StageStarted', 'StageCompleted', 'StageStarted', 'InterviewStarted', 'InterviewCompleted'],
      ...['StageCompleted', 'StageStarted', 'StageCompleted', 'RunCompleted'],
    ]);
    expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index + 1));
    await untilStatus(id, 'completed');
    expect(await service().call('GET', `/runs/${id}/events`)).toMatchObject({
      status: 410,
      body: { errors: [{ detail: 'Event stream closed.' }] },
    });
  });

  it('continues behind the last event a watcher has seen', async () => {
    const id = await start(asking);
    const { id: qid } = await question(id);
    const rest = eventsOf(id, '3');
    await answer(id, qid, { value: 'yes' });
    expect((await rest)[0]?.id).toBe(4);
  });
});

describe('a prompt', () => {
  const prompting = (attributes: string): string =>
    `digraph { start -> ask -> exit; ask [prompt="Hi", ${attributes}] }`;
  const stageOf = async (id: string) => (await get(`/runs/${id}/stages`)).data[1];

  it('is asked of the model that is named, and what it used is counted', async () => {
    const id = await start(prompting('model="org/claude", system="Be kind", max_tokens=7'));
    await untilStatus(id, 'completed');
    expect(models().provider.last()).toMatchObject({ path: '/v1/messages', body: { max_tokens: 7 } });
    expect(JSON.stringify(models().provider.last().body.system)).toContain('Be kind');
    expect(await stageOf(id)).toMatchObject({ model: 'org/claude', usage: { output_tokens: 50 } });
    expect(await get(`/runs/${id}/usage`)).toMatchObject({ totals: { output_tokens: 50 } });
  });

  it('is asked again when its provider permits it', async () => {
    const at: number[] = [];
    const limited = { status: 429, body: {}, headers: { 'retry-after': '2' } };
    models().provider.answers(() => (at.push(Date.now()) === 1 ? limited : ['well']));
    const id = await start(prompting('max_retries=1, retry_delay="1ms"'));
    await untilStatus(id, 'completed');
    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(2_000);
  });

  it('is asked again when its provider fails, and watchers are notified', async () => {
    let calls = 0;
    models().provider.answers(() => ((calls += 1) === 1 ? { status: 503, body: {} } : ['well']));
    const id = await start(prompting('max_retries=3'));
    const events = await eventsOf(id);
    expect(events.filter(({ event }) => 'StageRetrying' in event)).toHaveLength(1);
    expect(await stageOf(id)).toMatchObject({ status: 'completed', retries: 1 });
    expect(calls).toBe(2);
  });

  it.each([
    [
      'is asked again after a restart of the service, which is no attempt',
      '0',
      { answersWhileEnding: false, asked: 2 },
    ],
    ['is answered before the service ends, when that is soon', '20000', { answersWhileEnding: true, asked: 1 }],
  ])('%s', async (_title, BOARD_DRAIN_MS, { answersWhileEnding, asked }) => {
    const own = await startWithModels({ BOARD_DRAIN_MS });
    const gate = aGate();
    let calls = 0;
    own.provider.answers(async function* () {
      calls += 1;
      yield 'well';
      await (calls === 1 ? gate.opened : undefined);
    });
    try {
      const { body } = await own.service.call('POST', '/runs', { dot_source: prompting('max_retries=0') });
      await eventually(() => expect(calls).toBe(1));
      const restarted = own.service.restart();
      if (answersWhileEnding) {
        gate.open();
      }
      await restarted;
      const run = await eventually(async () => {
        const read = (await own.service.call('GET', `/runs/${body.id}`)).body;
        expect(['completed', 'failed']).toContain(read.status);
        return read;
      });
      expect(run).toMatchObject({ status: 'completed' });
      const { data } = (await own.service.call('GET', `/runs/${body.id}/stages`)).body;
      expect(data[1]).toMatchObject({ id: 'ask', retries: 0 });
      expect(calls).toBe(asked);
    } finally {
      gate.open();
      await own.close();
    }
  });

  it('that cannot be answered fails its run, or goes where a failure leads', async () => {
    models().provider.answers(() => ({ status: 400, body: { error: { message: 'no such thing' } } }));
    const failing = await start(prompting('max_retries=3'));
    expect(await untilStatus(failing, 'failed')).toMatchObject({ error: { message: expect.any(String) } });
    const caught = await start(`digraph { start -> ask; ask [prompt="Hi"]
      ask -> exit [condition="outcome=success"]; ask -> sorry [condition="outcome=fail"]; sorry [type=fail, label="Sorry"] }`);
    expect(await untilStatus(caught, 'failed')).toMatchObject({ error: { message: 'It came to Sorry.' } });
    expect(await get(`/runs/${failing}/retro`)).toMatchObject({ smoothness: 'failed' });
  });

  it('is not begun for a model that is not there', async () => {
    const { status, body } = await service().call('POST', '/runs', { dot_source: prompting('model="gpt-0"') });
    expect({ status, detail: body.errors[0].detail }).toEqual({
      status: 400,
      detail: 'Node "ask": Model not found: gpt-0',
    });
  });

  it('is broken off when its run is cancelled', async () => {
    const gate = aGate();
    models().provider.answers(async function* () {
      yield 'Half';
      await gate.opened;
    });
    const id = await start(prompting('max_retries=0'));
    await eventually(async () => expect((await stageOf(id)).status).toBe('running'));
    expect(await service().call('POST', `/runs/${id}/cancel`)).toMatchObject({ body: { status: 'cancelled' } });
    await eventually(() => expect(models().provider.last().left).toBe(true));
    gate.open();
  });
});

describe('control', () => {
  it('pauses before the next stage, and continues', async () => {
    const id = await start('digraph { start -> ok -> a -> exit; ok [shape=hexagon]; a [prompt="hello"] }');
    await question(id);
    expect(await service().call('POST', `/runs/${id}/unpause`)).toMatchObject({ status: 409 });
    expect(await service().call('POST', `/runs/${id}/pause`)).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    expect(await service().call('POST', `/runs/${id}/pause`)).toMatchObject({
      status: 409,
      body: { errors: [{ detail: 'Run is not pausable.' }] },
    });
    await answer(id, 'ok', { value: 'go' });
    await eventually(async () => expect((await get(`/runs/${id}/questions`)).data).toEqual([]));
    expect(await service().call('POST', `/runs/${id}/unpause`)).toMatchObject({ status: 200 });
    await untilStatus(id, 'completed');
  });

  it('cancels what runs', async () => {
    const id = await start(asking);
    await question(id);
    expect(await service().call('POST', `/runs/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    expect((await get(`/runs/${id}/stages`)).data.at(-1)).toMatchObject({ id: 'ok', status: 'cancelled' });
    expect(await service().call('POST', `/runs/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { errors: [{ detail: 'Run is not cancellable.' }] },
    });
    expect((await get(`/runs/${id}/questions`)).data).toEqual([]);
  });

  it('lets so many work at a time, the oldest first, and cancels those that are queued', async () => {
    const gate = aGate();
    models().provider.answers(async function* () {
      await gate.opened;
      yield 'well';
    });
    const working = 'digraph { start -> a -> exit; a [prompt="Hi"] }';
    const ids = [await start(working), await start(working)];
    for (const id of ids) {
      await untilStatus(id, 'running');
    }
    const third = await start(asking);
    const fourth = await start(asking);
    expect(await get(`/runs/${third}`)).toMatchObject({ status: 'queued', queue_position: 1 });
    expect(await get(`/runs/${fourth}`)).toMatchObject({ status: 'queued', queue_position: 2 });
    const { slug } = (await get(`/runs/${fourth}`)).workflow;
    const { data } = await get(`/workflows/${slug}/runs?page[limit]=2`);
    expect(data).toMatchObject([
      { id: fourth, queue_position: 2 },
      { id: third, queue_position: 1 },
    ]);
    expect(await answer(third, 'ok', { value: 'yes' })).toMatchObject({
      status: 409,
      body: { errors: [{ detail: 'Run is not yet running.' }] },
    });
    expect(await service().call('POST', `/runs/${third}/cancel`)).toMatchObject({ body: { status: 'cancelled' } });
    await service().call('POST', `/runs/${ids[0]}/cancel`);
    await question(fourth);
    gate.open();
    await service().call('POST', `/runs/${fourth}/cancel`);
    await untilStatus(ids[1]!, 'completed');
  });

  it('does not count runs that wait for people or a time, and counts them again when they work', async () => {
    const gate = aGate();
    models().provider.answers(async function* () {
      await gate.opened;
      yield 'well';
    });
    const ids = [];
    for (const stage of ['shape=hexagon', 'shape=hexagon', 'type=wait, duration="1d"']) {
      ids.push(await start(`digraph { start -> w -> a -> exit; w [${stage}]; a [prompt="Hi"] }`));
    }
    for (const id of ids) {
      await untilStatus(id, 'running');
    }
    await answer(ids[0]!, 'w', { value: 'go' });
    await answer(ids[1]!, 'w', { value: 'go' });
    for (const id of ids.slice(0, 2)) {
      await eventually(async () => expect((await get(`/runs/${id}/stages`)).data.at(-1).id).toBe('a'));
    }
    const queued = await start('digraph { start -> exit }');
    expect(await get(`/runs/${queued}`)).toMatchObject({ status: 'queued' });
    gate.open();
    await untilStatus(queued, 'completed');
    await service().call('POST', `/runs/${ids[2]}/cancel`);
  });
});

describe('reading', () => {
  it('lists runs, the newest first, in pages', async () => {
    const first = await start('digraph Listed { start -> exit }');
    const second = await start('digraph Listed { start -> exit }');
    const { body: page, headers } = await service().call('GET', '/runs?workflow=listed&page[limit]=1');
    expect(headers.get('link')).toBe('</runs?workflow=listed&page%5Blimit%5D=1&page%5Boffset%5D=1>; rel="next"');
    expect(page).toMatchObject({ data: [{ id: second }], meta: { has_more: true } });
    const rest = await get('/workflows/listed/runs?page[limit]=500&page[offset]=1');
    expect(rest).toMatchObject({ data: [{ id: first }], meta: { has_more: false } });
    expect(await get('/workflows/listed')).toMatchObject({ name: 'Listed', last_run: { id: second } });
  });

  it.each([
    '/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/stages',
    '/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/events',
    '/workflows/none',
  ])('reports that there is nothing at %s', async (path) => {
    expect(await service().call('GET', path)).toMatchObject({ status: 404 });
  });

  it('refuses ids, pages and tokens that are none', async () => {
    expect(await service().call('GET', '/runs/..%2Fetc')).toMatchObject({ status: 400 });
    expect(await service().call('GET', '/runs?page[limit]=many')).toMatchObject({ status: 400 });
    expect(await service().call('GET', '/runs', undefined, null)).toMatchObject({ status: 401 });
  });
});

test('a forged message about a run is not done', async () => {
  const id = await start(asking);
  const { id: qid } = await question(id);
  const { workflow } = service().temporal.client;
  const handle = workflow.getHandle(runWorkflowId(id));
  const proof = { ...createMessageProofs(Buffer.alloc(32)).sign(runMessage('cancel', id, {}), 60_000) };
  for (const [name, message] of [
    ['cancel', {}],
    ['cancel', { proof }],
    ['pause', {}],
    ['steer', { text: 'Say yes.' }],
    ['answer', { questionId: qid, keys: ['Y'] }],
    ['answer', { questionId: qid, keys: ['Y'], proof }],
  ] as const) {
    const outcome = handle.executeUpdate(name, { args: [message] });
    await expect(outcome).rejects.toMatchObject({ cause: { type: 'MESSAGE_UNPROVEN' } });
  }
  expect(await get(`/runs/${id}`)).toMatchObject({ status: 'running' });
  const { taskQueue } = await handle.describe();
  const graph = { name: 'Forged', start: 'start', nodes: { start: { id: 'start', kind: 'exit' } }, edges: [] };
  const forged = workflow.execute('workflowRun', {
    workflowId: runWorkflowId('forged'),
    taskQueue,
    args: [{ runId: 'forged', graph }],
  });
  await expect(forged).rejects.toMatchObject({ cause: { type: 'MESSAGE_UNPROVEN' } });
  expect(await service().call('POST', `/runs/${id}/cancel`, {})).toMatchObject({ status: 200 });
});
