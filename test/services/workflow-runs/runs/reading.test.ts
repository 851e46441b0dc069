import { eventually } from '../../../../platform/testing/eventually';
import { readEvents } from '../events';
import { startWithModels, type WithModels } from '../models-under-test';
import { openStoredRuns } from '../stored-runs';
import { aRunClient, type RunClient } from './run-client';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  models = await startWithModels({ WORKFLOW_RUNS_PING_MS: '100' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(() => models.close());

describe('the event stream of a run', () => {
  it('pings while nothing happens', async () => {
    const id = await runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }');
    const events = await readEvents(
      await models.service.open('GET', `/runs/${id}/events`),
      ({ event }) => event === 'ping',
    );
    expect(events.at(-1)).toEqual({ event: 'ping', id: undefined, data: {} });
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'yes' }, 204);
    await runs.untilStatus(id, 'completed');
  });

  it('has the rest for a reader that was cut off, also when the run has ended', async () => {
    const id = await runs.start('digraph { start -> exit }');
    await runs.untilStatus(id, 'completed');
    const names = await runs.eventNames(id);
    const behind = (sequence: number) =>
      models.service.open('GET', `/runs/${id}/events`, { headers: { 'last-event-id': String(sequence) } });
    const rest = await readEvents(await behind(names.length - 2));
    expect(rest.flatMap(({ data }) => Object.keys(data))).toEqual(names.slice(-2));
    expect(names.at(-1)).toBe('RunCompleted');
    const all = await readEvents(await behind(0));
    expect(all.flatMap(({ data }) => Object.keys(data))).toEqual(names);
    expect((await behind(names.length)).status).toBe(410);
    expect((await models.service.open('GET', `/runs/${id}/events`)).status).toBe(410);
  });

  it('refuses a reader whose Last-Event-ID is behind the last event, who would not come to the end', async () => {
    const id = await runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }');
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    const last = (await runs.eventNames(id)).length;
    const behind = (sequence: number) =>
      models.service.open('GET', `/runs/${id}/events`, { headers: { 'last-event-id': String(sequence) } });
    const refused = await behind(last + 1);
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      ...{ status: 400 },
      body: { errors: [{ detail: `Last-Event-ID: must be the id of an event; the last one is ${last}.` }] },
    });
    const followed = readEvents(await behind(last));
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'yes' }, 204);
    expect((await followed).map(({ data }) => Object.keys(data)[0])).toContain('RunCompleted');
  });

  it('refuses a reader whose Last-Event-ID is no number', async () => {
    const id = await runs.start('digraph { start -> exit }');
    for (const header of ['abc', '-1', '1.5', '1e3', '9'.repeat(16)]) {
      const refused = await models.service.open('GET', `/runs/${id}/events`, { headers: { 'last-event-id': header } });
      expect({ header, status: refused.status }).toEqual({ header, status: 400 });
      expect(await refused.text()).toContain('Last-Event-ID: must be the id of an event');
    }
  });
});

test('a stage whose answer is cut at its limit of tokens names that', async () => {
  models.provider.answers(() => ['Once upon', { cutAtLimit: true }]);
  const id = await runs.start('digraph { start -> write -> exit; write [prompt="Hi", max_tokens=2] }');
  await runs.untilStatus(id, 'completed');
  const [, write] = await runs.stages(id);
  expect(write).toMatchObject({ id: 'write', status: 'completed', stop_reason: 'max_tokens', notes: 'Once upon' });
  expect((await runs.stages(id)).filter((stage) => 'stop_reason' in stage)).toHaveLength(1);
});

describe('a checkpoint of a run', () => {
  const dot = 'digraph { start -> a -> b -> exit; a [prompt="A"]; b [prompt="B"] }';
  const notFound = (path: string) => models.service.call('GET', path);

  it('is selected by its id, which events and the checkpoint itself name', async () => {
    const id = await runs.start(dot);
    await runs.untilStatus(id, 'completed');
    const latest = await runs.get(`/runs/${id}/checkpoint`);
    expect(latest).toMatchObject({ id: 'b.1', current_node: 'b', next_node_id: 'exit' });
    expect(await runs.get(`/runs/${id}/checkpoint?checkpoint=b.1`)).toEqual(latest);
    const first = await runs.get(`/runs/${id}/checkpoint?checkpoint=a.1`);
    expect(first).toMatchObject({ id: 'a.1', current_node: 'a', next_node_id: 'b', completed_nodes: ['start', 'a'] });
    expect(first.context_values).toEqual({ a_output: 'well', last_output: 'well' });
    expect((await runs.get(`/runs/${id}/checkpoint?checkpoint=start.1`)).context_values).toEqual({});
    expect(await runs.events(id)).toContainEqual({ CheckpointSaved: { node_id: 'a', checkpoint_id: 'a.1' } });
    expect(await notFound(`/runs/${id}/checkpoint?checkpoint=all`)).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Checkpoint "all" not found.' }] },
    });
    expect(await notFound(`/runs/${id}/checkpoint?checkpoint=`)).toMatchObject({ status: 400 });
  });
});

test('a graph that an earlier version has accepted and this one refuses cannot be drawn, and the answer names why', async () => {
  const stored = await openStoredRuns(models.service);
  try {
    const { _id } = await stored.add({ dot_source: 'digraph { start -> exit; start [nothing=1] }' });
    expect(await models.service.call('GET', `/runs/${_id}/graph`)).toMatchObject({
      status: 502,
      body: { errors: [{ detail: expect.stringMatching(/^The graph cannot be drawn: .*"nothing" is no attribute/) }] },
    });
  } finally {
    await stored.database.close();
  }
});

describe('what needs a workspace', () => {
  it('is refused with that reason, or null', async () => {
    const id = await runs.start('digraph { start -> exit }');
    const run = await runs.untilStatus(id, 'completed');
    expect(run).toMatchObject({ repository: null, pull_request: null, sandbox: null });
    const ask = (path: string, method = 'GET', body?: unknown) => models.service.call(method, path, body);
    const noWorkspace = { status: 404, body: { errors: [{ detail: 'Run has no workspace, and so no files.' }] } };
    expect(await ask(`/runs/${id}/files`)).toMatchObject(noWorkspace);
    expect(await ask(`/runs/${id}/files?checkpoint=start.1`)).toMatchObject(noWorkspace);
    expect(await ask(`/runs/${id}/files?checkpoint=none.1`)).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Checkpoint "none.1" not found.' }] },
    });
    expect(await ask('/runs/01HZ0000000000000000000000/files')).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Run not found.' }] },
    });
    expect(await ask(`/runs/${id}/preview`, 'POST', { port: 80, expires_in_secs: 60 })).toMatchObject({ status: 409 });
  });
});

test('a run names how long it has taken, and its open question; its workflow, the goal of the latest graph', async () => {
  const id = await runs.start('digraph Asks { goal="Ship"; start -> ok -> exit; ok [shape=hexagon, label="Well?"] }');
  await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
  const waiting = await runs.get(`/runs/${id}`);
  expect(waiting).toMatchObject({ question: { text: 'Well?' }, timings: { elapsed_secs: expect.any(Number) } });
  expect((await runs.get('/runs')).data[0]).toMatchObject({ id, question: { text: 'Well?' } });
  await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'yes' }, 204);
  const ended = await runs.untilStatus(id, 'completed');
  expect(ended).not.toHaveProperty('question');
  const { started_at, ended_at, timings } = ended;
  expect(timings.elapsed_secs).toBeCloseTo((Date.parse(ended_at) - Date.parse(started_at)) / 1000, 3);
  expect(await runs.get('/workflows/asks')).toMatchObject({ description: 'Ship', config: null, schedule: null });
  await runs.untilStatus(await runs.start('digraph Asks { start -> exit }'), 'completed');
  expect(await runs.get('/workflows/asks')).toMatchObject({ description: null });
});
