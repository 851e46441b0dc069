import { eventually } from '../../../../platform/testing/eventually';
import { aGate } from '../../../support/models/provider';
import { aPresetsFile } from '../commands-under-test';
import { startWithModels, type WithModels } from '../models-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';

let models: WithModels;
let runs: RunClient;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  file = await aPresetsFile();
  models = await startWithModels(file.settings);
  runs = aRunClient(models.service);
});
afterAll(async () => {
  await models.close();
  await file.close();
});
const start = (dot: string): Promise<string> => runs.start(dot);
const get = (path: string) => runs.get(path);
const untilStatus = (id: string, status: string) => runs.untilStatus(id, status);

const promptOf = (body: { messages: { content: string }[] }): string => String(body.messages.at(-1)?.content);
/** A run whose command prints a list, which a map goes through. */
const over = (list: unknown[], map: string, more = 'm -> exit'): string => {
  const json = JSON.stringify(list).replaceAll('"', '\\"');
  return `digraph { start -> list -> m; ${more}
    list [type=command, command="printf %s '${json}'", output_schema="{\\"type\\":\\"array\\"}"]
    m [type=map, items="list_output", ${map}] }`;
};

describe('a map over a list', () => {
  it('asks a model for each item, some at a time, and collects the outputs in the order of the list', async () => {
    const gate = aGate();
    let underWay = 0;
    let most = 0;
    models.provider.answers(async function* ({ body }) {
      underWay += 1;
      most = Math.max(most, underWay);
      // The first waits for the last: the outputs come in another order.
      if (promptOf(body) === 'Read a at 0') {
        await gate.opened;
      }
      if (promptOf(body) === 'Read e at 4') {
        gate.open();
      }
      underWay -= 1;
      yield `read ${promptOf(body)}`;
    });
    const id = await start(over(['a', 'b', 'c', 'd', 'e'], 'prompt="Read ${item} at ${item_index}", concurrency=2'));
    await untilStatus(id, 'completed');
    const outputs = ['a', 'b', 'c', 'd', 'e'].map((item, index) => `read Read ${item} at ${index}`);
    expect(await get(`/runs/${id}/context`)).toMatchObject({
      ...{ m_output: outputs, last_output: outputs, m_failures: [] },
    });
    expect(most).toBe(2);
    const { data } = await get(`/runs/${id}/stages`);
    expect(data.filter(({ parent }: { parent?: string }) => parent === 'm')).toMatchObject(
      [0, 1, 2, 3, 4].map((index) => ({ id: `m:${index}`, kind: 'prompt', status: 'completed', dot_id: 'm' })),
    );
    expect(data.find(({ id: stage }: { id: string }) => stage === 'm')).toMatchObject({
      ...{ kind: 'map', status: 'completed', notes: '5 of 5 items' },
    });
    const { data: turns } = await get(`/runs/${id}/stages/${encodeURIComponent('m:3')}/turns`);
    expect(turns).toMatchObject([{ content: 'Read d at 3' }, { content: 'read Read d at 3' }]);
    const svg = await models.service.open('GET', `/runs/${id}/graph`);
    expect(await svg.text()).toContain('>m<');
  });

  it('runs a command for each item, with the parts of an item that is an object', async () => {
    const list = [{ name: 'a b' }, { name: '$(id)' }, { name: '' }];
    const id = await start(over(list, 'each=command, command="printf %s/ ${item.name} ${item_index}"'));
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ m_output: ['a b/0/', '$(id)/1/', '/2/'] });
  });

  it('does nothing for an empty list', async () => {
    const id = await start(over([], 'prompt="Read"'));
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ m_output: [], m_failures: [] });
  });

  it('completes with as many failures as it allows, with their reasons, and null as their output', async () => {
    const command = 'each=command, command="sh -c \'test $0 != b && echo $0\' ${item}"';
    const id = await start(over(['a', 'b', 'c'], `${command}, max_failures=1`));
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({
      ...{ m_output: ['a', null, 'c'] },
      m_failures: [{ index: 1, error: 'It ended with exit code 1.' }],
    });
    const names = await runs.eventNames(id);
    expect(names.filter((name) => name.startsWith('Map'))).toEqual(['MapStarted', 'MapCompleted']);
  });

  it('fails beyond them, begins no further item, and an edge leads on from its failure', async () => {
    const command = 'each=command, concurrency=1, command="sh -c \'test $0 != b && echo $0\' ${item}"';
    const failed = await start(over(['a', 'b', 'c'], command));
    expect(await untilStatus(failed, 'failed')).toMatchObject({
      error: { message: 'Item 1 failed: It ended with exit code 1. (1 of 3 items failed.)' },
    });
    const { data } = await get(`/runs/${failed}/stages`);
    expect(data.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`)).toEqual(
      expect.arrayContaining(['m:0 completed', 'm:1 failed', 'm failed']),
    );
    expect(data).toHaveLength(5);
    const mended = await start(
      over(['b'], command, 'm -> exit; m -> mend [condition="outcome=fail"]; mend -> exit; mend [shape=diamond]'),
    );
    await untilStatus(mended, 'completed');
  });

  it.each([
    ['what is no list', 'other', /^other is no list\.$/],
    ['a list that is too long', 'list_output', /^list_output has 3 items, and the map takes 2\.$/],
  ])('fails over %s', async (_case, items, message) => {
    const id = await start(
      over([1, 2, 3], 'prompt="x", max_items=2').replace('items="list_output"', `items="${items}"`),
    );
    expect(await untilStatus(id, 'failed')).toMatchObject({ error: { message: expect.stringMatching(message) } });
  });

  it('stops with its run, and begins nothing further while that is paused', async () => {
    const gates = [aGate(), aGate()];
    models.provider.answers(async function* ({ body }) {
      await gates[Number(promptOf(body))]?.opened;
      yield 'well';
    });
    const id = await start(over([0, 1, 2, 3], 'prompt="${item}", concurrency=2'));
    const stages = async () => (await get(`/runs/${id}/stages`)).data as { id: string; status: string }[];
    const items = async () => (await stages()).filter((stage) => stage.id.startsWith('m:'));
    await eventually(async () => expect(await items()).toHaveLength(2));
    expect((await models.service.call('POST', `/runs/${id}/pause`, {})).status).toBe(200);
    gates[0]?.open();
    await eventually(async () => expect(await items()).toMatchObject([{ status: 'completed' }, { status: 'running' }]));
    expect((await models.service.call('POST', `/runs/${id}/unpause`, {})).status).toBe(200);
    // The second lane goes through the rest while the first item of the other one is still under way.
    await eventually(async () => expect(await items()).toHaveLength(4));
    expect((await models.service.call('POST', `/runs/${id}/cancel`, {})).status).toBe(200);
    const ended = await stages();
    expect(ended.filter(({ status }) => status === 'running')).toEqual([]);
    expect(ended.find((stage) => stage.id === 'm:1')).toMatchObject({ status: 'cancelled' });
    expect(ended.find((stage) => stage.id === 'm')).toMatchObject({ status: 'cancelled' });
    gates[1]?.open();
  });

  it('asks nothing more once the budget of its run is used', async () => {
    models.provider.answers(() => ['well']);
    const id = await start(over([1, 2, 3, 4], 'prompt="${item}", concurrency=1').replace('{', '{ budget_tokens=2000;'));
    expect(await untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'It has used 2100 of 2000 tokens, so that m is not asked.' },
    });
  });

  it('has outputs that are bounded together', async () => {
    const list = Array.from({ length: 40 }, (_, index) => index);
    models.provider.answers(() => ['"'.repeat(9_000)]);
    const id = await start(over(list, 'prompt="${item}"'));
    await untilStatus(id, 'completed');
    const { m_output: output } = await get(`/runs/${id}/context`);
    expect(output).toHaveLength(40);
    expect(JSON.stringify(output).length).toBeLessThanOrEqual(65_536);
    expect(output[39].length).toBeGreaterThan(700);
  });
});
