import { eventually } from '../../../../platform/testing/eventually';
import { aGate } from '../../../support/models/provider';
import { startWithModels, type WithModels } from '../models-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  // One at a time: a run that waits for its child run leaves it the capacity.
  models = await startWithModels({ WORKFLOW_RUNS_CONCURRENCY: '1' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(({ body }) => [`said ${promptOf(body)}`]));
afterAll(() => models.close());

const promptOf = (body: { messages: { content: string }[] }): string => String(body.messages.at(-1)?.content);
const start = (dot: string): Promise<string> => runs.start(dot);
const childrenOf = async (id: string): Promise<{ id: string; status: string; parent: unknown }[]> =>
  (await runs.get(`/runs?parent=${id}`)).data;
const untilChild = (id: string, status: string) =>
  eventually(async () => {
    const [child] = await childrenOf(id);
    expect(child).toMatchObject({ status });
    return child!;
  });

/** Runs a graph once, so that it is a workflow. */
async function aWorkflow(dot: string): Promise<string> {
  const id = await start(dot);
  const { status, workflow } = await eventually(async () => {
    const run = await runs.get(`/runs/${id}`);
    expect(['completed', 'failed', 'running']).toContain(run.status);
    return run;
  });
  if (status === 'running') {
    await eventually(async () => expect((await runs.get(`/runs/${id}`)).status).not.toBe('running'));
  }
  return workflow.slug;
}
const greeting = 'digraph Greet { start -> a -> exit; a [prompt="Greet ${name} ${count}"] }';
const calling = (attributes: string, more = ''): string =>
  `digraph { ${more} start -> c -> exit; c [type=child, ${attributes}] }`;
/** A workflow that asks a person: every run of it waits until it is answered. */
async function anAsking(): Promise<string> {
  const id = await start('digraph Asking { start -> ok -> p -> exit; ok [shape=hexagon]; p [prompt="Work"] }');
  await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
  await runs.post(`/runs/${id}/cancel`, {}, 200);
  return 'asking';
}

describe('a child run', () => {
  it('begins with values of its parent, and its output is a value of it', async () => {
    const workflow = await aWorkflow(greeting);
    const id = await start(
      `digraph { start -> who -> c -> exit; who [prompt="Ann"]; c [type=child, workflow=${workflow}, vars="name=who_output", output="a_output"] }`,
    );
    await runs.untilStatus(id, 'completed');
    const [child] = await childrenOf(id);
    expect(child).toMatchObject({ status: 'completed', parent: { run_id: id, stage_id: 'c', root: id } });
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({
      ...{ c_output: 'said Greet said Ann ', last_output: 'said Greet said Ann ', c_run: child!.id },
    });
    expect((await runs.stages(id)).find((stage) => stage.id === 'c')).toMatchObject({
      ...{ kind: 'child', status: 'completed', child_run: child!.id },
    });
    const events = await runs.events(id);
    expect(events).toContainEqual({ ChildRunStarted: { stage_id: 'c', run_id: child!.id } });
    expect(events).toContainEqual({ ChildRunEnded: { stage_id: 'c', run_id: child!.id, status: 'completed' } });
    const svg = await models.service.open('GET', `/runs/${id}/graph`);
    expect(await svg.text()).toContain('#bbf7d0');
  });

  it('is run for each item of a map, as a tree', async () => {
    const inner = await aWorkflow(greeting);
    await aWorkflow(
      `digraph Outer { start -> c -> exit; c [type=child, workflow=${inner}, vars="name=who, count=at"] }`,
    );
    await aWorkflow('digraph List { start -> l -> exit; l [prompt="x"] }');
    const schema = '{\\"type\\":\\"array\\"}';
    models.provider.answers(({ body }) => (promptOf(body).includes('List') ? ['["a","b","c"]'] : [promptOf(body)]));
    const id = await start(`digraph { start -> l -> m -> exit; l [prompt="List", output_schema="${schema}"]
      m [type=map, items=l_output, each=child, workflow=outer, vars="who=item, at=item_index"] }`);
    await runs.untilStatus(id, 'completed');
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({ m_output: ['Greet a 0', 'Greet b 1', 'Greet c 2'] });
    const children = await childrenOf(id);
    expect(children).toHaveLength(3);
    const [grandchild] = await childrenOf(children[0]!.id);
    expect(grandchild).toMatchObject({ parent: { run_id: children[0]!.id, root: id } });
  });

  it('that fails is run again as often as its node allows, and then fails the stage with its reason', async () => {
    const workflow = await aWorkflow(
      'digraph Failing { start -> no; start -> exit [condition="x=1"]; no [type=fail] }',
    );
    const id = await start(calling(`workflow=${workflow}, max_retries=1, retry_delay="10ms"`));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringMatching(/^Its child run \w{26} failed: It came to no\.$/) },
    });
    expect(await childrenOf(id)).toHaveLength(2);
    expect((await runs.stages(id)).at(-1)).toMatchObject({ id: 'c', status: 'failed', retries: 1 });
    const mended = await start(
      calling(`workflow=${workflow}`, 'c -> d [condition="outcome=fail"]; d -> exit; d [shape=diamond];'),
    );
    await runs.untilStatus(mended, 'completed');
  });

  it('is cancelled with its parent, and its own child runs with it', async () => {
    const asking = await anAsking();
    const middle = await start(`digraph Middle { start -> c -> exit; c [type=child, workflow=${asking}] }`);
    await eventually(async () => expect(await childrenOf(middle)).toMatchObject([{ status: 'running' }]));
    const id = await start(calling('workflow=middle'));
    const child = await untilChild(id, 'running');
    const grandchild = await untilChild(child.id, 'running');
    await runs.post(`/runs/${id}/cancel`, {}, 200);
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'cancelled' });
    expect(await runs.get(`/runs/${child.id}`)).toMatchObject({ status: 'cancelled' });
    expect(await runs.get(`/runs/${grandchild.id}`)).toMatchObject({ status: 'cancelled' });
    await runs.post(`/runs/${middle}/cancel`, {}, 200);
  });

  it('is cancelled with the branch that waits for it, while its parent continues', async () => {
    const workflow = await anAsking();
    const id =
      await start(`digraph { start -> p; p [type=parallel, completion=any]; j [type=join]; p -> first -> j; p -> c -> j
      first [shape=hexagon]; c [type=child, workflow=${workflow}]; j -> next -> exit; next [shape=hexagon] }`);
    const child = await untilChild(id, 'running');
    await runs.post(`/runs/${id}/questions/first/answer`, { value: 'done' }, 204);
    await eventually(async () => expect(await runs.questions(id)).toMatchObject([{ id: 'next' }]));
    await runs.untilStatus(child.id, 'cancelled');
    expect((await runs.stages(id)).find((stage) => stage.id === 'c')).toMatchObject({ status: 'cancelled' });
    await runs.post(`/runs/${id}/questions/next/answer`, { value: 'done' }, 204);
    await runs.untilStatus(id, 'completed');
  });

  it('that is cancelled by a caller fails its stage', async () => {
    const id = await start(calling(`workflow=${await anAsking()}`));
    const child = await untilChild(id, 'running');
    await runs.post(`/runs/${child.id}/cancel`, {}, 200);
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: `Its child run ${child.id} was cancelled.` },
    });
  });

  it('has the guidance of its parent, that of before its start and that of later', async () => {
    const asking = await anAsking();
    const id = await start(
      `digraph { start -> ok -> c -> exit; ok [shape=hexagon]; c [type=child, workflow=${asking}] }`,
    );
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await runs.post(`/runs/${id}/steer`, { guidance: 'Be brief' }, 202);
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'go' }, 204);
    const child = await untilChild(id, 'running');
    await runs.post(`/runs/${id}/steer`, { guidance: 'Be kind', location: { file: 'a.ts' } }, 202);
    await eventually(async () => expect(await runs.questions(child.id)).toHaveLength(1));
    await runs.post(`/runs/${child.id}/questions/ok/answer`, { value: 'go' }, 204);
    await runs.untilStatus(id, 'completed');
    expect((await runs.get(`/runs/${child.id}/stages/p/turns`)).data[0].content).toBe(
      'Work\n\nGuidance given since the run began:\n- Be brief\n- Be kind (a.ts)',
    );
  });

  it('is paused and resumed with its parent, and is held back while that is paused', async () => {
    const asking = await anAsking();
    const id = await start(calling(`workflow=${asking}`));
    const child = await untilChild(id, 'running');
    await runs.post(`/runs/${id}/pause`, {}, 200);
    expect(await runs.get(`/runs/${child.id}`)).toMatchObject({ status: 'paused' });
    await runs.post(`/runs/${id}/unpause`, {}, 200);
    expect(await runs.get(`/runs/${child.id}`)).toMatchObject({ status: 'running' });

    // The capacity is taken: the child run of another one is queued, and held back once its parent is paused.
    const gate = aGate();
    models.provider.answers(async function* () {
      await gate.opened;
      yield 'well';
    });
    await eventually(async () => expect(await runs.questions(child.id)).toHaveLength(1));
    const other = await start(
      `digraph { start -> w -> c -> exit; w [type=wait, duration="1s"]; c [type=child, workflow=${asking}] }`,
    );
    await runs.untilStatus(other, 'running');
    const busy = await start('digraph { start -> a -> exit; a [prompt="x"] }');
    await runs.untilStatus(busy, 'running');
    const queued = await untilChild(other, 'queued');
    await runs.post(`/runs/${other}/pause`, {}, 200);
    gate.open();
    await runs.untilStatus(busy, 'completed');
    const third = await start('digraph { start -> a -> exit; a [prompt="x"] }');
    await runs.untilStatus(third, 'completed');
    expect(await runs.get(`/runs/${queued.id}`)).toMatchObject({ status: 'queued' });
    await runs.post(`/runs/${other}/unpause`, {}, 200);
    await untilChild(other, 'running');
    await Promise.all([id, other].map((each) => runs.post(`/runs/${each}/cancel`, {}, 200)));
  });

  it('uses the budget of its parent with it', async () => {
    const workflow = await aWorkflow(greeting);
    const twice = `digraph { budget_tokens=2000; start -> a -> c -> exit; a [prompt="one"]; c [type=child, workflow=${workflow}] }`;
    await runs.untilStatus(await start(twice), 'completed');
    const id = await start(twice.replace('2000', '1000'));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: {
        message: expect.stringMatching(new RegExp(`failed: The tree of run ${id} has used 1050 of 1000 tokens`)),
      },
    });
  });

  it('is cancelled when the time of its stage is over', async () => {
    const id = await start(calling(`workflow=${await anAsking()}, timeout="1s"`));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('It was cancelled when its time was over.') },
    });
    expect(await childrenOf(id)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('of a workflow that calls itself is bounded in depth', async () => {
    await aWorkflow('digraph Deep { start -> exit }');
    const id = await start('digraph Deep { start -> c -> exit; c [type=child, workflow=deep] }');
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('Runs have child runs at most 5 deep.') },
    });
  });

  it.each([
    ['a workflow that has not been run', 'workflow="unknown-one"', 'Node "c": Workflow not found: unknown-one'],
    [
      'a value that the workflow sets itself',
      'workflow=greet, vars="a_output=goal"',
      'Node "c": vars.a_output: the run sets this value itself. Choose another name.',
    ],
  ])('is refused for %s', async (_case, attributes, detail) => {
    await aWorkflow(greeting);
    const refusal = await models.service.call('POST', '/runs', { dot_source: calling(attributes) });
    expect(refusal).toMatchObject({ status: 400, body: { errors: [{ detail }] } });
  });
});
