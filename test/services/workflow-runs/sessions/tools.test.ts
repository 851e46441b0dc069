import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { ledgerProgram } from '../../../support/factories/tool-server';
import type { Asked, ReplyPart } from '../../../support/models/provider';
import { type Stack, startStack } from '../../../support/stack/stack';
import { readEvents, type StreamEvent } from '../events';
import { aProviderWithCatalog } from '../models-under-test';
import { aRunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let board: Stack;
let service: WorkflowRunsUnderTest;
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
  service = await startServiceUnderTest({
    WORKFLOW_RUNS_BOARD_URL: board.url,
    WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100',
    ...models.settings,
  });
});
afterAll(async () => {
  await service.close();
  await models.close();
  await board.close();
});

const written = (line: string): number =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((each) => each === line).length
    : 0;
const calling = (tool: string, line: string, id = 'c1'): ReplyPart => ({
  ...{ tool: `ledger__${tool}`, id, input: { line } },
});
/** Answers each time in its place, the last one from then on. */
const answersInTurn = (...answers: ReplyPart[][]): Asked[] => {
  const asked: Asked[] = [];
  models.provider.answers((request) => {
    asked.push(request);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  });
  return asked;
};
const sentTo = ({ body }: Asked): { role: string; content: unknown }[] => body.messages;
const begin = async (fields: object = {}): Promise<string> => {
  const { status, body } = await service.call('POST', '/sessions', { content: 'Do it', tools: ['ledger'], ...fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
};
const send = (id: string, content: string) => service.call('POST', `/sessions/${id}/messages`, { content });
const turns = async (id: string) => (await service.call('GET', `/sessions/${id}`)).body.turns;
const until = async (id: string, isLast: (event: StreamEvent) => boolean): Promise<StreamEvent[]> =>
  readEvents(await service.open('GET', `/sessions/${id}/events`), isLast);
const isDone =
  (turn: number) =>
  ({ event, data }: StreamEvent): boolean =>
    event === 'done' && data.turn === turn;
const approvalOf = (line: string): Promise<{ id: string; details: object }> =>
  eventually(async () => {
    const approvals = await board.call.ok('GET', '/api/agents/permissions/approvals');
    const found = approvals.find((each: any) => each.details.arguments.line === line); // eslint-disable-line @typescript-eslint/no-explicit-any -- the board's own shape
    expect(found).toBeDefined();
    return found;
  });
const review = (id: string, decision: 'approved' | 'rejected') =>
  board.call.ok('POST', `/api/agents/permissions/approvals/${id}`, { decision });

describe('the model of a session with tools', () => {
  it('is offered those that are not denied, calls some, and answers with what they responded', async () => {
    const asked = answersInTurn(
      ['Let me see. ', calling('append', 'one'), calling('fail', 'two', 'c2')],
      ['One is ', 'written.'],
    );
    const id = await begin({ system: 'Be brief.' });
    const events = await until(id, isDone(1));
    const names = asked[0]!.body.tools.map((each: { function: { name: string } }) => each.function.name);
    expect(names).toEqual(['ledger__append', 'ledger__careful', 'ledger__fail', 'ledger__hold']);
    expect(sentTo(asked[1]!).map(({ role, content }) => [role, content])).toMatchObject([
      ['system', 'Be brief.'],
      ['user', 'Do it'],
      ['assistant', 'Let me see. '],
      ['tool', 'wrote one'],
      ['tool', expect.stringContaining('it failed')],
    ]);
    expect([written('append one'), written('fail two')]).toEqual([1, 1]);
    const tools = [
      { id: 'c1', tool_name: 'ledger/append', input: '{"line":"one"}', result: '"wrote one"', is_error: false },
      { id: 'c2', tool_name: 'ledger/fail', input: '{"line":"two"}', result: '"it failed"', is_error: true },
    ].map((tool) => ({ ...tool, duration_ms: expect.any(Number) }));
    const created_at = expect.any(String);
    expect(await turns(id)).toEqual([
      { kind: 'user', content: 'Do it', created_at },
      { kind: 'assistant', content: 'Let me see. ', created_at },
      { kind: 'tool', tools, created_at },
      { kind: 'assistant', content: 'One is written.', created_at },
    ]);
    expect(events.filter(({ event }) => event !== 'content_delta').map(({ event, data }) => [event, data])).toEqual([
      ['assistant_turn', { kind: 'assistant', content: 'Let me see. ', created_at, turn: 1 }],
      ['tool_turn', { kind: 'tool', tools, created_at, turn: 1 }],
      ['assistant_turn', { kind: 'assistant', content: 'One is written.', created_at, turn: 1 }],
      ['done', { turn: 1 }],
    ]);
    const deltas = events.filter(({ event }) => event === 'content_delta').map(({ data }) => [data.round, data.offset]);
    expect(deltas).toContainEqual([1, 0]);
    expect(deltas).toContainEqual([2, 0]);

    answersInTurn(['Before, I wrote one.']);
    await send(id, 'What did you do?');
    await until(id, isDone(2));
    expect(sentTo(models.provider.last()).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('calls what a person approves, once, however many executions wait for it', async () => {
    answersInTurn([calling('careful', 'by a session')], ['It is approved.']);
    const id = await begin();
    const { id: approval, details } = await approvalOf('by a session');
    expect(details).toMatchObject({ runId: id, stageId: `session:${id}` });
    const events = await until(id, ({ event }) => event === 'tool_waiting');
    expect(events.at(-1)!.data).toEqual({
      ...{ tool: 'ledger/careful', approval_id: approval, turn: 1 },
      reason: expect.stringContaining('requires an approval'),
    });
    expect(written('careful by a session')).toBe(0);
    await review(approval, 'approved');
    await until(id, isDone(1));
    expect(written('careful by a session')).toBe(1);
  });

  it('receives the reason of a call that may not be made, or that a person rejects', async () => {
    const asked = answersInTurn(
      [calling('forbidden', 'x'), { tool: 'ledger__append', id: 'c2', input: { lines: 'x' } }],
      [calling('careful', 'not by a session')],
      ['I may not.'],
    );
    const id = await begin();
    await review((await approvalOf('not by a session')).id, 'rejected');
    await until(id, isDone(1));
    const results = sentTo(asked[2]!).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      'refused: There is no tool ledger__forbidden.',
      expect.stringContaining('VALIDATION_ERROR'),
      expect.stringContaining('rejected it'),
    ]);
    expect(written('careful not by a session')).toBe(0);
  });

  it('stops waiting for an approval when another message comes, and no person decides about it', async () => {
    answersInTurn([calling('careful', 'superseded'), calling('append', 'never', 'c2')]);
    const id = await begin();
    const { id: approval } = await approvalOf('superseded');
    await until(id, ({ event }) => event === 'tool_waiting');
    const asked = answersInTurn(['As you like.']);
    await send(id, 'Do something else');
    await until(id, isDone(2));
    const events = await until(id, ({ event }) => event === 'tool_turn');
    expect(events.at(-1)!.data.tools).toMatchObject([
      { result: '"refused: Another message came before it was approved."', is_error: true },
      { result: 'null', is_error: false },
    ]);
    const approvals = await board.call.ok('GET', '/api/agents/permissions/approvals');
    expect(approvals.map((each: { id: string }) => each.id)).not.toContain(approval);
    expect([written('careful superseded'), written('append never')]).toEqual([0, 0]);
    const [, , first, second] = sentTo(asked[0]!);
    expect([first, second]).toMatchObject([
      { content: expect.stringMatching(/^(unknown|refused): /) },
      {
        content: 'refused: It was not called: another message came first.',
      },
    ]);
  });

  it('has a call that is being made come to its end when another message comes', async () => {
    answersInTurn([calling('hold', 'under way')]);
    const id = await begin();
    await eventually(() => expect(written('hold under way')).toBe(1));
    answersInTurn(['Meanwhile.']);
    await send(id, 'And?');
    await until(id, isDone(2));
    writeFileSync(`${ledger}.open`, '');
    const events = await until(id, ({ event }) => event === 'tool_turn');
    rmSync(`${ledger}.open`);
    expect(events.at(-1)!.data).toMatchObject({ turn: 1, tools: [{ result: '"wrote under way"', is_error: false }] });
    expect(written('hold under way')).toBe(1);
  });

  it('is asked so many times for one message, and may call nothing in the last', async () => {
    const asked = answersInTurn([calling('append', 'for ever')], ['Enough.']);
    const id = await begin({ max_turns: 2 });
    await until(id, isDone(1));
    expect(asked.map(({ body }) => body.tool_choice === 'none')).toEqual([false, true]);
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({ tools: ['ledger'], max_turns: 2 });
  });

  it('continues as new with a long history, and asks and calls nothing twice', async () => {
    const rounds = 20;
    const asked = answersInTurn(
      ...Array.from({ length: rounds }, (_each, n): ReplyPart[] => [calling('append', `round ${n}`, `c${n}`)]),
      ['That was long.'],
    );
    const id = await begin({ max_turns: 50 });
    await until(id, isDone(1));
    expect(asked).toHaveLength(rounds + 1);
    for (let n = 0; n < rounds; n += 1) {
      expect(written(`append round ${n}`)).toBe(1);
    }
    const executions = new Set<string>();
    await eventually(async () => {
      for await (const { runId } of service.temporal.client.workflow.list({
        query: `WorkflowId STARTS_WITH "session/${id}/"`,
      })) {
        executions.add(runId);
      }
      expect(executions.size).toBeGreaterThan(1);
    });
  });

  it('calls the tools of the catalog of a run, and of no server that the run has not', async () => {
    const run = await aRunClient(service).start(
      'digraph { start -> a -> exit; a [type=tool, server=ledger, tool=append, arguments="{\\"line\\": \\"run\\"}"] }',
    );
    answersInTurn([calling('append', 'of the run')], ['Done.']);
    const id = await begin({ tools: ['ledger/append'], run });
    await until(id, isDone(1));
    expect(written('append of the run')).toBe(1);
    expect(models.provider.last().body.tools).toHaveLength(1);
    const refused = await service.call('POST', '/sessions', { content: 'Hi', tools: ['other'], run });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ detail: 'tools: the run has no tool server other.' }] },
    });
  });

  it('fails with the reason of the board when its tools cannot be offered', async () => {
    const id = await begin({ tools: ['nowhere'] });
    const events = await until(id, ({ event }) => event === 'error');
    expect(events.at(-1)!.data).toEqual({ turn: 1, message: expect.stringContaining('TOOL_SERVER_UNAVAILABLE') });
  });

  it.each([
    ['a name that is none', { tools: ['ledger/'] }, 422, /tools\.0/],
    ['no names', { tools: [] }, 422, /tools/],
    ['a run without tools', { run: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, 422, /run.*needs tools/],
    ['a limit without tools', { max_turns: 3 }, 422, /max_turns.*needs tools/],
    ['a limit beyond the largest', { tools: ['ledger'], max_turns: 51 }, 422, /max_turns/],
    ['a run that there is not', { tools: ['ledger'], run: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, 404, /Run not found/],
    ['a model without tools', { tools: ['ledger'], model: 'tiny' }, 422, /tiny does not support tools/],
  ])('is refused with %s', async (_case, fields, status, detail) => {
    expect(await service.call('POST', '/sessions', { content: 'Hi', ...fields })).toMatchObject({
      status,
      body: { errors: [{ detail: expect.stringMatching(detail) }] },
    });
  });

  it('is refused where no board is named', async () => {
    const alone = await startServiceUnderTest(models.settings);
    try {
      expect(await alone.call('POST', '/sessions', { content: 'Hi', tools: ['ledger'] })).toMatchObject({
        status: 400,
        body: { errors: [{ detail: expect.stringContaining('WORKFLOW_RUNS_BOARD_URL is not set') }] },
      });
    } finally {
      await alone.close();
    }
  });
});
