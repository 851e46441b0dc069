import { sampleRequest } from '../../../domain/admission/sample-request';
import type { Stored } from '../../../stores/port/collection';
import { createTreeStore } from '../../../stores/runs/admission/tree-store';
import { createRunEventStore } from '../../../stores/runs/event-store';
import { type ApiUnderTest, type Reply, startWholeTestApi } from '../api-under-test';
import { bounded, byPlace, ofHosts, ofOneThing, summaries } from './bounded';
import { boardCases } from './cases.board';
import { chatCases } from './cases.chat';
import { configuredCases } from './cases.configured';
import { governedCases } from './cases.governed';
import { identityCases } from './cases.identity';
import { runCases } from './cases.runs';
import { workflowCases } from './cases.workflows';
import { done, type ListCase } from './list-case';
import { listOperations } from './operations';

const cases: ListCase[] = [
  ...boardCases,
  ...chatCases,
  ...governedCases,
  ...configuredCases,
  ...identityCases,
  ...runCases,
  ...workflowCases,
];

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const next = (reply: Reply): string | undefined => /<([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1];

async function read(path: string): Promise<Reply> {
  const reply = await board.call('GET', path);
  if (reply.status !== 200) {
    throw new Error(`GET ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  return reply;
}

describe.each(cases.map((each) => [each.operation, each] as const))('%s', (_operation, list) => {
  const { idOf = ({ id }) => id, items, backwards = false } = list;
  const itemsOf = (body: Reply['body']): Reply['body'][] =>
    typeof items === 'function' ? items(body) : items === undefined ? body : body[items];
  const idsOf = ({ body }: Reply): unknown[] => itemsOf(body).map(idOf);
  const withLimit = (path: string, limit: number) => `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`;

  it('is read to its end by following the cursor, every item once, while others add to it', async () => {
    const owner = (await list.prepare?.(board)) ?? '';
    const path = typeof list.path === 'string' ? list.path : list.path(owner);
    for (let n = 1; n <= 5; n += 1) {
      await list.add(board, n, owner);
    }
    const whole = await read(withLimit(path, 50));
    const expected = idsOf(whole);
    expect(expected.length).toBeGreaterThanOrEqual(5);
    expect(new Set(expected).size).toBe(expected.length);
    expect(next(whole)).toBeUndefined();
    expect(whole.headers.get('x-next-cursor')).toBeNull();
    expect(whole.body).not.toHaveProperty('nextCursor');

    const seen: unknown[] = [];
    for (let at: string | undefined = withLimit(path, 2), pages = 1; at !== undefined; pages += 1) {
      const page: Reply = await read(at);
      const ids = idsOf(page);
      expect(ids.length).toBeLessThanOrEqual(2);
      if (backwards) {
        seen.unshift(...ids);
      } else {
        seen.push(...ids);
      }
      const cursor: string | null = page.headers.get('x-next-cursor');
      const link = next(page);
      if (list.numbered) {
        at = cursor === null ? undefined : `${withLimit(path, 2)}&cursor=${cursor}`;
      } else {
        at = link;
      }
      const linked = new URLSearchParams(link?.split('?')[1]).get('cursor');
      // The first of numbered pages links to the second by its number.
      if (!list.numbered || pages > 1) {
        expect(linked).toBe(cursor);
      }
      if (items !== undefined) {
        expect(page.body.nextCursor ?? null).toBe(cursor);
      }
      if (pages === 1) {
        await list.add(board, 6, owner);
      }
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => expected.includes(id))).toEqual(expected);
    expect(seen.length - expected.length).toBeLessThanOrEqual(1);
  });
});

describe('every operation that answers a list', () => {
  const operations = async () => listOperations((await read('/api/openapi.json')).body);
  const paged = new Set([...cases.map(({ operation }) => operation), ...ofHosts]);
  const placed = [...paged, ...[bounded, ofOneThing, summaries, byPlace].flatMap((table) => Object.keys(table))];

  it('is read by a cursor, or is bounded by a rule, in exactly one of these tables', async () => {
    const ids = (await operations()).map(({ operationId }) => operationId);
    expect(ids.filter((id) => !placed.includes(id))).toEqual([]);
    expect(placed.filter((id) => !ids.includes(id))).toEqual([]);
    expect(placed.filter((id, index) => placed.indexOf(id) !== index)).toEqual([]);
  });

  it('names its parameters and states how to continue', async () => {
    for (const { operationId, query, headers, namesCursor, isArray } of await operations()) {
      if (!paged.has(operationId)) {
        continue;
      }
      expect([operationId, query]).toEqual([operationId, expect.arrayContaining(['limit', 'cursor'])]);
      expect([operationId, headers]).toEqual([operationId, expect.arrayContaining(['Link', 'X-Next-Cursor'])]);
      expect([operationId, namesCursor]).toEqual([operationId, !isArray]);
    }
  });

  it('with a cursor has its parameter, and every summary of a list names the whole list', async () => {
    const found = new Map((await operations()).map((each) => [each.operationId, each]));
    for (const [id, parameter] of Object.entries(byPlace)) {
      expect(found.get(id)?.query).toContain(parameter);
    }
    for (const list of Object.values(summaries)) {
      expect([list, paged.has(list)]).toEqual([list, true]);
    }
  });
});

it('continues with the events of a run by their sequence, and links to what comes next', async () => {
  const attemptId = 'attempt_events000001';
  const { database, feed } = board.api.context;
  const attempts = await database.collection<{ _id: string; taskId: string }>({ name: 'attempts' });
  await attempts.insert({ _id: attemptId, taskId: 'task_20260101_events' });
  const events = await createRunEventStore(database, feed);
  const source = { taskId: 'task_20260101_events', attemptId, provider: 'process', agent: 'example' };
  const progress = [1, 2, 3, 4, 5].map((n) => ({ kind: 'progress' as const, payload: { message: `step ${n}` } }));
  await events.append(source, progress);
  const seen: number[] = [];
  let at: string | undefined = `/api/agents/task_20260101_events/attempts/${attemptId}/events?limit=2`;
  while (at !== undefined) {
    const page: Reply = await read(at);
    seen.push(...page.body.events.map(({ sequence }: { sequence: number }) => sequence));
    expect(next(page) !== undefined).toBe(page.body.hasMore);
    at = next(page);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

it('sums up all reservations of an execution tree, whatever part of it is shown', async () => {
  const { database } = board.api.context;
  const root = sampleRequest('root-summed00000001');
  await (await createTreeStore(database)).open(root);
  const reservations = await database.collection<Stored>({ name: 'admission-reservations' });
  const committed = { runs: 1, processes: 2, memoryMb: 3 };
  for (let n = 0; n < 1_002; n += 1) {
    const state = n < 2 ? 'active' : 'released';
    const record = { ...root, _id: `attempt_summed${n}`, state, committed, createdAt: `2026-01-01T00:00:00.${n}Z` };
    await reservations.insert(record);
  }
  const { body } = await read(`/api/admission/tree/${root.rootObjectiveId}`);
  const { runs, processes, memoryMb } = root.requested;
  expect(body).toMatchObject({
    committed: { runs: 1_002, processes: 2_004, memoryMb: 3_006 },
    reserved: { runs: 2 * runs, processes: 2 * processes, memoryMb: 2 * memoryMb },
    contributorCount: 1,
    truncated: false,
  });
});

it('shows no more of one thing than its bound, such as the rules of a decision and the readers of a broadcast', async () => {
  const { traces, database } = board.api.context;
  const rule = { id: 'rule', label: 'Rule', type: 'risk-threshold', status: 'matched' as const, message: 'It holds.' };
  const evaluatedRules = Array.from({ length: 300 }, (_, n) => ({ ...rule, id: `rule-${n}` }));
  const traceId = await traces.record({ kind: 'policy', outcome: 'allowed', title: 'x', summary: 'x', evaluatedRules });
  const trace = (await read(`/api/governance/traces/${traceId}`)).body;
  expect(trace.evaluatedRules).toHaveLength(ofOneThing['getGovernanceTrace']![0]);
  expect(trace.redacted).toBe(true);
  const { id } = await done(board, 'POST', '/api/broadcasts', { message: 'read by everybody' });
  const readBy = Array.from({ length: 999 }, (_, n) => ({ agent: `reader-${n}`, readAt: new Date().toISOString() }));
  const records = await database.collection<Stored & { readBy: unknown[] }>({ name: 'broadcasts' });
  await records.findOneAndUpdate({ _id: id }, { $set: { readBy } });
  const mark = (agent: string) => board.call('PATCH', `/api/broadcasts/${id}/read`, { body: { agent } });
  expect(await mark('the-last')).toMatchObject({ status: 200, body: { success: true } });
  expect(await mark('one-more')).toMatchObject({ status: 409, body: { code: 'BROADCAST_READERS_FULL' } });
  expect((await mark('the-last')).status).toBe(200);
  expect((await read(`/api/broadcasts/${id}`)).body.readBy).toHaveLength(ofOneThing['getBroadcast']![0]);
});

describe('a cursor', () => {
  const refused = async (path: string) => {
    const { status, body } = await board.call('GET', path);
    return { status, code: body.code, path: body.details.issues[0].path };
  };
  const asRefused = { status: 400, code: 'VALIDATION_ERROR', path: 'cursor' };
  const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
  let cursor: string;
  beforeAll(async () => {
    for (let n = 1; n <= 3; n += 1) {
      await board.call('POST', '/api/broadcasts', { body: { message: `cursor ${n}` } });
    }
    cursor = (await read('/api/broadcasts?limit=1')).headers.get('x-next-cursor')!;
  });

  it('continues with another limit', async () => {
    expect((await read(`/api/broadcasts?limit=2&cursor=${cursor}`)).body).toHaveLength(2);
  });

  it.each([
    ['nonsense', 'nonsense'],
    ['nothing', ''],
    ['of another version', encode({ v: 2, list: 'x', key: '', id: '' })],
    ['with an operator for a key', encode({ v: 1, list: 'x', key: { $gt: '' }, id: '' })],
    ['with more than it has', encode({ v: 1, list: 'x', key: '', id: '', more: 1 })],
  ])('that is %s is refused by its path', async (_name, text) => {
    expect(await refused(`/api/broadcasts?cursor=${text}`)).toEqual(asRefused);
  });

  it('of another list, or of the same one with other filters, is refused', async () => {
    expect(await refused(`/api/decisions?cursor=${cursor}`)).toEqual(asRefused);
    expect(await refused(`/api/broadcasts?priority=urgent&cursor=${cursor}`)).toEqual(asRefused);
    expect(await refused(`/api/broadcasts?limit=1&cursor=${cursor}&cursor=${cursor}`)).toEqual(asRefused);
  });

  it('is refused together with an offset or a page', async () => {
    const { headers } = await read('/api/feedback?limit=1');
    const path = `/api/feedback?limit=1&cursor=${headers.get('x-next-cursor')}`;
    expect(await refused(`${path}&offset=1`)).toEqual(asRefused);
    expect((await read(`${path}&offset=0`)).body).toHaveLength(1);
  });
});
