import { eventually } from '../../../../platform/testing/eventually';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { asking } from '../run-client';
import { repeatingRuns } from './repeating-runs';

const { start, get, untilStatus, question, answer, eventsOf, service } = repeatingRuns({
  WORKFLOW_RUNS_CONCURRENCY: '2',
});

describe('a loop of a run', () => {
  const looping = (attributes: string, edge: string) =>
    `digraph { ${attributes}; start -> a; a [shape=diamond]; b [shape=diamond]; a -> b [weight=2${edge}]; b -> a; a -> exit }`;

  it('ends where an edge was taken as often as it may be', async () => {
    const id = await start(looping('rankdir=LR', ', max_traversals=3'));
    await untilStatus(id, 'completed');
    const { data } = await get(`/runs/${id}/stages?page[limit]=100`);
    expect(data.filter((stage: { dot_id: string }) => stage.dot_id === 'b')).toHaveLength(3);
  });

  it.each([
    ['of its own', looping('a [max_visits=4]', ''), 'It came to a more than 4 times, which is its limit.'],
    ['of the graph', looping('loop_limit=2', ''), 'It came to a more than 2 times, which is its limit.'],
  ])('fails the run at a node that was visited up to a limit %s', async (_case, dot, message) => {
    expect(await untilStatus(await start(dot), 'failed')).toMatchObject({ error: { message } });
  });
});

describe('parallel branches', () => {
  const branching = (options: string, fast: string, more = '') =>
    `digraph { start -> p; p [type=parallel, ${options}]; j [type=join]; p -> fast -> j; p -> slow -> j; j -> exit; ${more}
      fast [${fast}]; slow [type=wait, duration="1h"] }`;
  const failing = 'type=webhook, timeout="50ms"';
  const stageOf = async (id: string, node: string) =>
    (await get(`/runs/${id}/stages?page[limit]=100`)).data.find((each: { dot_id: string }) => each.dot_id === node);

  it('meet once one has succeeded, and the others are cancelled', async () => {
    const id = await start(branching('completion=any', 'type=wait, duration="50ms"'));
    await untilStatus(id, 'completed');
    expect(await stageOf(id, 'slow')).toMatchObject({ status: 'cancelled' });
    expect(await stageOf(id, 'fast')).toMatchObject({ status: 'completed' });
  });

  it('are waited for where one has failed and any may succeed', async () => {
    const id = await start(branching('completion=any', failing).replace('duration="1h"', 'duration="500ms"'));
    await untilStatus(id, 'completed');
    expect(await stageOf(id, 'slow')).toMatchObject({ status: 'completed' });
  });

  it('are cancelled once one has failed for good, and the join has its reason', async () => {
    const id = await start(branching('fail_fast=true', failing));
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'Its webhook was not called in time.' },
    });
    expect(await stageOf(id, 'slow')).toMatchObject({ status: 'cancelled' });
    const mended = await start(branching('fail_fast=true', failing, 'j -> exit [condition="outcome=fail"];'));
    await untilStatus(mended, 'completed');
  });

  const eventsNamed = async (id: string, name: string) =>
    (await eventsOf(id, '0')).flatMap(({ event }) => (name in event ? [event[name] as Record<string, unknown>] : []));
  const countOf = async (id: string): Promise<Record<string, number>> => {
    const names = (await eventsOf(id, '0')).flatMap(({ event }) => Object.keys(event));
    return Object.fromEntries(names.map((name) => [name, names.filter((each) => each === name).length]));
  };

  it('have events of their own where they begin with the same node', async () => {
    const id = await start(`digraph { start -> p; p [type=parallel]; j [type=join]; p -> a; p -> a; a -> j; j -> exit
      a [type=wait, duration="1ms"] }`);
    await untilStatus(id, 'completed');
    const end = { node_id: 'p', branch: 'a', success: true };
    expect(await eventsNamed(id, 'ParallelBranchCompleted')).toEqual([end, end]);
    const ids = (await eventsNamed(id, 'CheckpointSaved')).map((each) => each.checkpoint_id as string);
    expect(ids).toEqual(['start.1', 'a.1', 'a.2', 'j.1']);
    for (const checkpoint of ids) {
      expect(await get(`/runs/${id}/checkpoint?checkpoint=${checkpoint}`)).toMatchObject({ id: checkpoint });
    }
  });

  it('have the events of each visit of a parallel node that two of them come to at once', async () => {
    const id = await start(`digraph { start -> p; p -> a -> q; p -> b -> q; q -> x -> k; q -> y -> k; k -> j -> exit
      a [shape=diamond]; b [shape=diamond]; x [shape=diamond]; y [shape=diamond]
      p [type=parallel]; q [type=parallel]; k [type=join]; j [type=join] }`);
    await untilStatus(id, 'completed');
    expect(await countOf(id)).toMatchObject({
      ...{ ParallelStarted: 3, ParallelBranchCompleted: 6, ParallelCompleted: 3 },
      ...{ StageCompleted: 14, CheckpointSaved: 10 },
    });
  });

  it('end as cancelled with their run', async () => {
    const id = await start(branching('completion=any', 'type=wait, duration="2h"'));
    await eventually(async () => expect(await stageOf(id, 'fast')).toBeDefined());
    await service().call('POST', `/runs/${id}/cancel`, {});
    await untilStatus(id, 'cancelled');
  });
});

describe('people in a run', () => {
  it('choose the way by an option, and may come again', async () => {
    const id = await start(asking);
    const first = await question(id);
    expect(first).toEqual({
      id: 'ok',
      text: 'Go on?',
      question_type: 'multiple_choice',
      options: [
        { key: 'yes', label: 'Yes' },
        { key: 'no', label: 'No' },
      ],
      allow_freeform: false,
    });
    expect(await answer(id, 'ok', { selected_option_key: 'no' })).toMatchObject({ status: 204 });
    const second = await eventually(async () => {
      const { data } = await get(`/runs/${id}/questions`);
      expect(data[0]?.id).toBe('ok.2');
      return data[0];
    });
    expect(await answer(id, 'ok', { selected_option_key: 'yes' })).toMatchObject({ status: 409 });
    expect(await answer(id, second.id, { selected_option_keys: ['yes'] })).toMatchObject({ status: 204 });
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ ok_answer: 'yes', last_answer: 'yes' });
  });

  it.each([
    ['nothing', {}, 'One of value, selected_option_key, or selected_option_keys is required.'],
    ['an option that is none', { selected_option_key: 'maybe' }, 'Invalid option key.'],
    ['two options of one', { selected_option_keys: ['yes', 'no'] }, 'This question takes one option.'],
    ['a text where there are options', { value: 'well' }, 'This question takes one of its options.'],
  ])('get an error when they answer with %s', async (_case, body, detail) => {
    const id = await start(asking);
    await question(id);
    expect(await answer(id, 'ok', body)).toMatchObject({ status: 400, body: { errors: [{ detail }] } });
    await service().call('POST', `/runs/${id}/cancel`);
  });

  it('choose several, or write it in their own words', async () => {
    const id = await start(`digraph { start -> which -> why -> exit
      which [shape=hexagon, question_type=multi_select, options="a, b, c"]
      why [shape=hexagon, label="Why \${which_answer}?"] }`);
    await question(id);
    await answer(id, 'which', { selected_option_keys: ['a', 'c'] });
    const why = await eventually(async () => {
      const { data } = await get(`/runs/${id}/questions`);
      expect(data[0]?.id).toBe('why');
      return data[0];
    });
    expect(why).toMatchObject({ text: 'Why ["a","c"]?', question_type: 'freeform', allow_freeform: true });
    await answer(id, 'why', { value: 'because' });
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ which_answer: ['a', 'c'], why_answer: 'because' });
  });

  it('have a list of what they chose of several, also where it is one', async () => {
    const id =
      await start(`digraph { start -> which -> each -> exit; which [shape=hexagon, question_type=multi_select, options="a, b"]
      each [type=map, items="which_answer", prompt="For \${item}"] }`);
    await question(id);
    await answer(id, 'which', { selected_option_key: 'b' });
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({
      ...{ which_answer: ['b'], last_answer: ['b'] },
      each_output: ['said: For b'],
    });
  });

  it('are not waited for beyond the time they are given', async () => {
    const id = await start(`digraph { start -> ok -> exit
      ok [shape=hexagon, timeout="50ms"]; ok -> late [condition="outcome=fail"]; late -> exit }`);
    await untilStatus(id, 'completed');
    const { data } = await get(`/runs/${id}/stages`);
    expect(data.map((stage: { id: string }) => stage.id)).toEqual(['start', 'ok', 'late', 'exit']);
    expect(data[1]).toMatchObject({ status: 'failed', failure_reason: 'No answer arrived in time.' });
  });

  it('guide what comes later', async () => {
    const id = await start('digraph { start -> ok -> write -> exit; ok [shape=hexagon]; write [prompt="Write"] }');
    await question(id);
    const guidance = { location: { file: 'notes.md', line: 3 }, guidance: 'Be brief' };
    expect(await service().call('POST', `/runs/${id}/steer`, guidance)).toMatchObject({ status: 202, body: undefined });
    // A reader of the history may send it again: it was recorded once.
    const handle = service().temporal.client.workflow.getHandle(runWorkflowId(id));
    const { events } = await handle.fetchHistory();
    const reported = events?.flatMap(
      ({ workflowExecutionUpdateAcceptedEventAttributes: each }) => each?.acceptedRequest?.input?.args?.payloads ?? [],
    );
    const argument = JSON.parse(Buffer.from(reported?.[0]?.data ?? []).toString()) as object;
    expect(argument).toMatchObject({ text: 'Be brief' });
    await handle.executeUpdate('steer', { args: [argument] });
    await answer(id, 'ok', { value: 'go' });
    await untilStatus(id, 'completed');
    const [{ content }] = (await get(`/runs/${id}/stages/write/turns`)).data;
    expect(content).toBe('Write\n\nGuidance given since the run began:\n- Be brief (notes.md:3)');
    expect(await service().call('POST', `/runs/${id}/steer`, { guidance: 'Too late' })).toMatchObject({ status: 409 });
    expect(await service().call('POST', `/runs/${id}/steer`, { guidance: 'x', location: { line: 1 } })).toMatchObject({
      status: 422,
      body: { errors: [{ detail: expect.stringContaining('location.file') }] },
    });
  });
});

describe('a graph', () => {
  it('has one mark for all changes of its code in the history of a new run', async () => {
    const id = await start('digraph { start -> a -> b -> exit; a [prompt="hello"]; b [prompt="again"] }');
    await untilStatus(id, 'completed');
    const { events } = await service().temporal.client.workflow.getHandle(runWorkflowId(id)).fetchHistory();
    const marks = events?.filter(({ markerRecordedEventAttributes: each }) => each?.markerName === 'core_patch');
    expect(marks).toHaveLength(1);
  });

  it('decides by the values of the run', async () => {
    const id = await start(`digraph { start -> a -> d; a [prompt="hello"]; d [shape=diamond]
      d -> other [condition="last_output contains goodbye"]; d -> exit [condition="last_output contains hello"]; other -> exit }`);
    await untilStatus(id, 'completed');
    const { data } = await get(`/runs/${id}/stages`);
    expect(data.map((stage: { id: string }) => stage.id)).toEqual(['start', 'a', 'd', 'exit']);
  });

  it('does its branches at the same time, and continues when all have ended', async () => {
    const id = await start(`digraph { p [shape=component]; j [shape=tripleoctagon]
      start -> p; p -> left -> j; p -> right -> j; j -> exit; left [shape=hexagon]; right [shape=hexagon] }`);
    await eventually(async () => expect((await get(`/runs/${id}/questions`)).data).toHaveLength(2));
    await answer(id, 'right', { value: 'r' });
    await answer(id, 'left', { value: 'l' });
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ left_answer: 'l', right_answer: 'r' });
  });

  it('fails with its reason where no way leads on', async () => {
    const id = await start('digraph { start -> ok -> exit; ok [shape=hexagon, timeout="20ms"] }');
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: 'No answer arrived in time.' } });
  });

  it('that goes in circles ends', async () => {
    const id = await start('digraph { start -> d; d [shape=diamond]; d -> d; d -> exit [condition="never=true"] }');
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('in circles') },
    });
  });

  it('that is wrong is refused with what is wrong', async () => {
    const refused = await service().call('POST', '/runs', { dot_source: 'digraph { start -> a }' });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ status: '400', title: 'Bad Request' }] } });
    expect(refused.body.errors[0].detail).toContain('needs an exit');
    expect(await service().call('POST', '/runs', {})).toMatchObject({ status: 422 });
    expect(await service().call('POST', '/runs', { dot_source: 'x', colour: 'red' })).toMatchObject({ status: 422 });
    const halfOfCharacter = 'digraph { graph [goal="lone \ud83d x"]; start -> exit }';
    expect(await service().call('POST', '/runs', { dot_source: halfOfCharacter })).toMatchObject({
      status: 422,
      body: { errors: [{ detail: 'dot_source: must not have half of a character' }] },
    });
  });
});

describe('values of a run', () => {
  const create = (dot_source: string, vars: unknown) => service().call('POST', '/runs', { dot_source, vars });
  const choosing = `digraph { start -> ask -> on; on [shape=diamond]; ask [prompt="For \${audience}"]
    on -> low [condition="!(limit >= 10) || !strict"]; on -> high [condition="limit >= 10 && strict"]; low -> exit; high -> exit
    low [shape=diamond]; high [shape=diamond] }`;

  it('are given with it, and are in its prompts and conditions', async () => {
    const vars = { audience: 'kids', limit: 10, strict: true };
    const { status, body } = await create(choosing, vars);
    expect(status).toBe(201);
    await untilStatus(body.id, 'completed');
    expect(await get(`/runs/${body.id}/context`)).toMatchObject({ ...vars, ask_output: 'said: For kids' });
    expect(await get(`/runs/${body.id}/configuration`)).toMatchObject({ vars });
    expect((await get(`/runs/${body.id}/stages`)).data.map(({ id }: { id: string }) => id)).toContain('high');
  });

  it.each([
    ['a name that is none', { '1st': 'x' }, 422],
    ['a name of what every object has', { constructor: 'x' }, 422],
    ['a list', { audience: ['x'] }, 422],
    ['half of a character', { audience: 'a \ud83d b' }, 422],
    ['a text that is too long', { audience: 'x'.repeat(8_001) }, 422],
    ['too many', Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`v${at}`, at])), 422],
    ['too much', Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`v${at}`, 'x'.repeat(8_000)])), 422],
    ['what the run sets itself', { ask_output: 'x' }, 400],
    ['the goal', { goal: 'x' }, 400],
  ])('are refused with %s', async (_case, vars, status) => {
    expect((await create(choosing, vars)).status).toBe(status);
  });
});
