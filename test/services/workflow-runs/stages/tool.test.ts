import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../../../platform/testing/eventually';
import { ledgerProgram } from '../../../support/factories/tool-server';
import type { Asked } from '../../../support/models/provider';
import { type Stack, startStack } from '../../../support/stack/stack';
import { aProviderWithCatalog } from '../models-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let board: Stack;
let service: WorkflowRunsUnderTest;
let runs: RunClient;
let ledger: string;
let models: Awaited<ReturnType<typeof aProviderWithCatalog>>;
beforeAll(async () => {
  board = await startStack();
  ledger = join(board.dir, 'ledger');
  await board.call.ok('POST', '/api/tool-servers', {
    ...{ id: 'ledger', displayName: 'Ledger', transport: ledgerProgram(ledger) },
    ...{ deniedTools: ['forbidden'], approvalRequiredTools: ['careful'] },
  });
  models = await aProviderWithCatalog();
  service = await startServiceUnderTest({ WORKFLOW_RUNS_BOARD_URL: board.url, ...models.settings });
  runs = aRunClient(service);
});
afterAll(async () => {
  await service.close();
  await models.close();
  await board.close();
});

/** Passes requests on, and holds the responses to those whose path ends so until they are released. */
async function aHeldProxy(target: string, path: string) {
  const released = new EventEmitter();
  let isReleased = false;
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await request.toArray());
      const { host: _host, connection: _connection, ...headers } = request.headers;
      const { method = 'GET', url = '/' } = request;
      const sent = method === 'GET' ? {} : { body };
      const answer = await fetch(`${target}${url}`, { method, headers: headers as Record<string, string>, ...sent });
      const text = await answer.text();
      if (url.endsWith(path) && !isReleased) {
        await once(released, 'released');
      }
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release() {
      isReleased = true;
      released.emit('released');
    },
    async close() {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

const written = (line: string): number =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((each) => each === line).length
    : 0;
const json = (value: unknown): string => `"${JSON.stringify(value).replaceAll('"', '\\"')}"`;
const calling = (tool: string, values: object, more = ''): string =>
  `a [type=tool, server=ledger, tool=${tool}, arguments=${json(values)}${more}]`;
const graph = (node: string, edges = ''): string => `digraph { start -> a -> exit; ${edges} ${node} }`;
const approvals = async (): Promise<{ id: string; status: string; details: { arguments: { line: string } } }[]> =>
  board.call.ok('GET', '/api/agents/permissions/approvals');
/** The approval of the call with this line, once it is requested. */
const approvalOf = (line: string) =>
  eventually(async () => {
    const found = (await approvals()).find(({ details }) => details.arguments.line === line);
    expect(found).toBeDefined();
    return found!;
  });
const review = (id: string, decision: 'approved' | 'rejected') =>
  board.call.ok('POST', `/api/agents/permissions/approvals/${id}`, { decision });

describe('a tool of a run', () => {
  it('is called once with values of the run, and its output is one', async () => {
    const { body } = await service.call('POST', '/runs', {
      dot_source: graph(
        `${calling('append', { line: '${what}' })}; b [type=tool, server=ledger, tool=append, arguments=${json({ line: 'then ${a_output}' })}]`,
        'a -> b -> exit;',
      ).replace('a -> exit;', ''),
      vars: { what: 'say "hi" }' },
    });
    await runs.untilStatus(body.id, 'completed');
    expect([written('append say "hi" }'), written('append then wrote say "hi" }')]).toEqual([1, 1]);
    const context = await runs.get(`/runs/${body.id}/context`);
    expect(context).toMatchObject({
      ...{ a_output: 'wrote say "hi" }', a_status: 'completed', a_call: expect.stringMatching(/^toolcall_/) },
      b_output: 'wrote then wrote say "hi" }',
    });
    expect((await runs.get(`/runs/${body.id}/stages/a/turns`)).data).toMatchObject([
      { kind: 'tool', tools: [{ tool_name: 'ledger/append', is_error: false, input: '{"line":"say \\"hi\\" }"}' }] },
    ]);
  });

  it('waits for the approval of exactly its call, through a continuation, and is then called', async () => {
    const id = await runs.start(graph(calling('careful', { line: 'approved' })));
    const { id: approval } = await approvalOf('approved');
    await eventually(async () => {
      const stage = (await runs.stages(id)).find((each) => each.id === 'a');
      expect(stage).toMatchObject({ status: 'running', tool: { approval_id: approval } });
    });
    expect(written('careful approved')).toBe(0);
    await review(approval, 'approved');
    await runs.untilStatus(id, 'completed');
    expect(written('careful approved')).toBe(1);
    expect(await runs.events(id)).toContainEqual({
      ToolWaiting: { stage_id: 'a', approval_id: approval, reason: expect.stringContaining('requires an approval') },
    });
  });

  it('that a person rejects is not called, nor one whose run is cancelled, whose approval is withdrawn', async () => {
    const rejected = await runs.start(graph(calling('careful', { line: 'rejected' })));
    await review((await approvalOf('rejected')).id, 'rejected');
    expect(await runs.untilStatus(rejected, 'failed')).toMatchObject({
      error: {
        message: expect.stringMatching(/^The call of ledger\/careful ended as refused: POLICY_BLOCKED: .*rejected it/),
      },
    });
    const cancelled = await runs.start(graph(calling('careful', { line: 'cancelled' })));
    const { id: approval } = await approvalOf('cancelled');
    await eventually(async () => expect((await runs.stages(cancelled)).find(({ tool }) => tool)).toBeDefined());
    await runs.post(`/runs/${cancelled}/cancel`, {}, 200);
    expect((await approvals()).map(({ id }) => id)).not.toContain(approval);
    expect([written('careful rejected'), written('careful cancelled')]).toEqual([0, 0]);
  });

  it('is withdrawn when its run is cancelled before it is known that an approval is required', async () => {
    const proxy = await aHeldProxy(board.url, '/calls');
    const held = await startServiceUnderTest({ WORKFLOW_RUNS_BOARD_URL: proxy.url });
    try {
      const heldRuns = aRunClient(held);
      const id = await heldRuns.start(graph(calling('careful', { line: 'early' })));
      const { id: approval } = await approvalOf('early');
      const cancelling = heldRuns.post(`/runs/${id}/cancel`, {}, 200);
      await eventually(async () => {
        const { events } = await held.temporal.client.workflow.getHandle(`workflow-run/${id}`).fetchHistory();
        const accepted = events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
        expect(accepted).not.toHaveLength(0);
      });
      proxy.release();
      await cancelling;
      await heldRuns.untilStatus(id, 'cancelled');
      expect((await approvals()).map((each) => each.id)).not.toContain(approval);
    } finally {
      proxy.release();
      await held.close();
      await proxy.close();
    }
  });

  it.each([
    ['with arguments that its schema refuses', calling('append', { lines: 'x' }), /VALIDATION_ERROR.*arguments/],
    ['that its definition denies', calling('forbidden', { line: 'x' }), /TOOL_DENIED/],
    ['that its server does not have', calling('nothing', { line: 'x' }), /NOT_FOUND/],
    [
      'of a server that there is not',
      calling('append', { line: 'x' }).replace('server=ledger', 'server=nowhere'),
      /TOOL_SERVER_UNAVAILABLE/,
    ],
  ])('%s fails its stage with the reason of the board', async (_case, node, reason) => {
    expect(await runs.untilStatus(await runs.start(graph(node)), 'failed')).toMatchObject({
      error: { message: expect.stringMatching(reason) },
    });
  });

  it('that fails is called again only where the graph names it idempotent, and edges decide by its status', async () => {
    const failing = (line: string, more = '') =>
      calling('fail', { line }, `, max_retries=1, retry_delay="10ms"${more}`);
    const once = await runs.start(graph(failing('once'), 'a -> exit [condition="outcome=fail && a_status=error"];'));
    await runs.untilStatus(once, 'completed');
    expect(await runs.get(`/runs/${once}/context`)).toMatchObject({ a_output: 'it failed' });
    const twice = await runs.start(graph(failing('twice', ', idempotent=true')));
    await runs.untilStatus(twice, 'failed');
    expect([written('fail once'), written('fail twice')]).toEqual([1, 2]);
  });

  it('is forbidden by a tool policy of the role workflow', async () => {
    await board.call.ok('POST', '/api/tool-policies', { role: 'workflow', allowed: ['other'] });
    const id = await runs.start(graph(calling('append', { line: 'policy' })));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('The tool policy workflow does not allow ledger/append') },
    });
    await board.call.ok('DELETE', '/api/tool-policies/workflow');
    expect(written('append policy')).toBe(0);
  });

  it('is called for each item of a list', async () => {
    const hook = 'h [type=webhook]';
    const id = await runs.start(
      `digraph { start -> h -> m -> exit; ${hook}; m [type=map, items=h_output, each=tool, server=ledger, tool=append, arguments=${json({ line: 'item ${item.name}' })}] }`,
    );
    const url = await eventually(async () => {
      const { data } = await runs.get(`/runs/${id}/webhooks`);
      expect(data).toHaveLength(1);
      return data[0].url as string;
    });
    const body = JSON.stringify([{ name: 'one' }, { name: 'two' }]);
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await runs.untilStatus(id, 'completed');
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({ m_output: ['wrote item one', 'wrote item two'] });
  });

  it('that takes too long fails its stage at its time-out', async () => {
    const id = await runs.start(graph(calling('hold', { line: 'late' }, ', timeout="1s"')));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: 'The call of ledger/hold ended as timeout: It was not completed in time.' },
    });
    writeFileSync(`${ledger}.open`, '');
    expect(written('hold late')).toBe(1);
  });
});

describe('the model of a prompt with tools', () => {
  const prompting = (more = ''): string => graph(`a [prompt="Do it", model=small, tools=ledger${more}]`);
  /** Answers each turn in its place, the last one from then on. */
  const answersInTurn = (...turns: (string | { tool: string; id: string; input: unknown })[]): Asked[] => {
    const asked: Asked[] = [];
    models.provider.answers((request) => {
      asked.push(request);
      return [turns[Math.min(asked.length, turns.length) - 1]!];
    });
    return asked;
  };
  const sentTo = ({ body }: Asked): { role: string; content: unknown }[] => body.messages;

  it('is offered the tools that are not denied, calls one, and answers with what it responded', async () => {
    const asked = answersInTurn(
      { tool: 'ledger__append', id: 'c1', input: { line: 'by the model' } },
      'It is written.',
    );
    const id = await runs.start(prompting());
    await runs.untilStatus(id, 'completed');
    const names = asked[0]!.body.tools.map((each: { function: { name: string } }) => each.function.name);
    expect(names).toEqual(['ledger__append', 'ledger__careful', 'ledger__fail', 'ledger__hold']);
    expect(sentTo(asked[1]!).at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('wrote by the model'),
    });
    expect(written('append by the model')).toBe(1);
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({ a_output: 'It is written.' });
    expect(await runs.events(id)).toContainEqual({
      ToolEnded: { stage_id: 'a', tool: 'ledger/append', status: 'completed' },
    });
    expect((await runs.stages(id)).find((each) => each.id === 'a')).toMatchObject({
      usage: { input_tokens: 2_000, output_tokens: 100 },
    });
    expect((await runs.get(`/runs/${id}/stages/a/turns`)).data).toMatchObject([
      { kind: 'user', content: 'Do it' },
      { kind: 'tool', tools: [{ tool_name: 'ledger/append', result: '"wrote by the model"', is_error: false }] },
      { kind: 'assistant', content: 'It is written.' },
    ]);
  });

  it('receives the reason of a call that may not be made, or that a person rejects, and answers', async () => {
    const asked = answersInTurn(
      { tool: 'ledger__forbidden', id: 'c1', input: { line: 'x' } },
      { tool: 'ledger__append', id: 'c2', input: { lines: 'x' } },
      { tool: 'ledger__careful', id: 'c3', input: { line: 'by a model' } },
      'I may not.',
    );
    const id = await runs.start(prompting());
    const { id: approval } = await approvalOf('by a model');
    await review(approval, 'rejected');
    await runs.untilStatus(id, 'completed');
    const results = sentTo(asked[3]!).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining('There is no tool ledger__forbidden.'),
      expect.stringContaining('VALIDATION_ERROR'),
      expect.stringContaining('rejected it'),
    ]);
    const ended = (await runs.events(id)).flatMap((event) => ('ToolEnded' in event ? [event.ToolEnded.status] : []));
    expect(ended).toEqual(['refused', 'refused', 'refused']);
    expect(written('careful by a model')).toBe(0);
  });

  it('is asked so many turns at most, and may call nothing in the last', async () => {
    const asked = answersInTurn({ tool: 'ledger__append', id: 'c1', input: { line: 'for ever' } });
    const id = await runs.start(prompting(', max_turns=2, max_retries=0'));
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({
      error: { message: expect.stringContaining('a tool call even though tool choice was none') },
    });
    expect(asked.map(({ body }) => body.tool_choice === 'none')).toEqual([false, true]);
    expect(written('append for ever')).toBe(1);
  });

  it('has to support tools, which is checked before its run is taken', async () => {
    const refused = await service.call('POST', '/runs', { dot_source: prompting().replace('small', 'tiny') });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ detail: expect.stringMatching(/tiny does not support tools/) }] },
    });
  });
});

describe('a tool step of a workflow of the board', () => {
  it('is called in the name of the starter, waits for an approval as blocked, and is called then', async () => {
    const agents = [{ id: 'coder', agent: 'example' }];
    const steps = [
      { id: 'first', type: 'tool', server: 'ledger', tool: 'append', arguments: { line: '{{what}} $5' } },
      { id: 'second', type: 'tool', server: 'ledger', tool: 'careful', arguments: { line: '{{steps.first.output}}' } },
      {
        id: 'third',
        type: 'tool',
        server: 'ledger',
        tool: 'fail',
        arguments: { line: 'x' },
        on_fail: { on_exhausted: 'skip', retry_step: 'first', max_reroutes: 1 },
      },
    ];
    const definition = { id: 'tools', name: 'Tools', agents, variables: { what: 'step' }, steps };
    await board.call.ok('POST', '/api/workflows', definition);
    const { id } = await board.call.ok('POST', '/api/workflows/tools/runs', {});
    const read = () => board.call.ok('GET', `/api/workflows/runs/${id}`);
    for (const _visit of [1, 2]) {
      const { id: approval } = await approvalOf('wrote step $5');
      await eventually(async () =>
        expect(await read()).toMatchObject({
          ...{ status: 'blocked', currentStep: 'second' },
          steps: [{}, { status: 'blocked', approvalId: approval }, {}],
        }),
      );
      await review(approval, 'approved');
    }
    await eventually(async () => expect(await read()).toMatchObject({ status: 'completed' }));
    const { context, steps: states } = await read();
    expect(context).toMatchObject({ first_output: 'wrote step $5', second_status: 'completed', third_status: 'error' });
    expect(states.map(({ visits }: { visits: number }) => visits)).toEqual([2, 2, 2]);
    expect([written('append step $5'), written('careful wrote step $5')]).toEqual([2, 2]);
  });
});

describe('the tool catalog of a workflow run at the board', () => {
  const root = '/api/tool-servers/workflow-runs';

  it('is opened once and never changes', async () => {
    const open = (toolServers: string[]) =>
      board.call.send('PUT', `${root}/run-1/catalog`, JSON.stringify({ toolServers }));
    const first = await open(['ledger']);
    expect(first).toMatchObject({ status: 200, body: { schemaVersion: 'workflow-tool-catalog/v1', runId: 'run-1' } });
    expect((await open(['ledger'])).body).toEqual(first.body);
    expect(await open(['ledger', 'other'])).toMatchObject({ status: 409, body: { code: 'TOOL_CATALOG_MISMATCH' } });
    const call = {
      stageId: 'a',
      operationId: 'operation-1',
      serverId: 'ledger',
      tool: 'append',
      arguments: { line: 'x' },
    };
    const digest = `sha256:${'0'.repeat(64)}`;
    for (const [run, catalogDigest] of [
      ['run-1', digest],
      ['run-2', first.body.digest],
    ]) {
      const refused = await board.call.post(`${root}/${run}/calls`, { ...call, catalogDigest });
      expect(refused).toMatchObject({ status: 409, body: { code: 'TOOL_CATALOG_MISMATCH' } });
    }
    const made = { ...call, catalogDigest: first.body.digest };
    const answer = await board.call.ok('POST', `${root}/run-1/calls`, made);
    expect(await board.call.ok('POST', `${root}/run-1/calls`, made)).toEqual({ ...answer, replayed: true });
    const reused = await board.call.post(`${root}/run-1/calls`, { ...made, arguments: { line: 'y' } });
    expect(reused).toMatchObject({ status: 409, body: { code: 'TOOL_OPERATION_REUSED' } });
    expect(await board.call.post(`${root}/run-1/withdraw`, { approvalId: 'approval_0123456789ab' })).toMatchObject({
      status: 404,
    });
  });
});
