import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('errors API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/errors${rest}`, options);
  const timeout = { taskId: 'TASK-1', agent: 'bee', errorMessage: 'Request timed out after 30 s\n    at fetch' };
  const submit = async (fields: object = {}) => {
    await nextMillisecond();
    return (await call('POST', '/submit', { body: { ...timeout, ...fields } })).body;
  };
  const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);

  it('is submitted with what the rules make of it', async () => {
    const body = { ...timeout, attemptDescription: 'Tried twice', rawDetails: 'trace' };
    const submitted = await call('POST', '/submit', { body, key: agentKey });
    expect(submitted).toMatchObject({
      status: 201,
      body: {
        context: { ...body, errorType: 'timeout', occurredAt: expect.any(String) },
        summary: 'Request timed out after 30 s',
        severity: 'medium',
        rootCause: expect.stringContaining('timeout'),
        preventionSteps: [expect.any(String)],
        optionsConsidered: [{ option: 'Tried twice', pros: [], cons: [], chosen: false }],
        isRepeat: false,
        previousOccurrences: 0,
        relatedTasks: [],
      },
    });
    expect((await call('GET', `/${submitted.body.id}`)).body).toEqual(submitted.body);
  });

  it('knows an error again that differs in numbers only, and the tasks that had it', async () => {
    const message = (number: number) => ({ errorMessage: `Worker ${number} lost its lease`, errorType: 'runtime' });
    await submit({ ...message(1), taskId: 'TASK-7' });
    const second = await submit({ ...message(2), taskId: 'TASK-8' });
    expect(second).toMatchObject({
      isRepeat: true,
      previousOccurrences: 1,
      relatedTasks: ['TASK-7'],
      severity: 'high',
    });
    await submit(message(3));
    const fourth = await submit({ ...message(4), taskId: 'TASK-7' });
    expect(fourth).toMatchObject({ previousOccurrences: 3, severity: 'critical', relatedTasks: ['TASK-1', 'TASK-8'] });
  });

  it('counts every one of those that come at once', async () => {
    const all = Array.from({ length: 20 }, () => submit({ errorMessage: 'All at once' }));
    const counts = (await Promise.all(all)).map(({ previousOccurrences }) => previousOccurrences);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number));
  });

  it('keeps no secret', async () => {
    const secret = `ghp_${'a1'.repeat(18)}`;
    const { id } = await submit({ errorMessage: `push with ${secret} failed`, rawDetails: secret });
    expect(JSON.stringify((await call('GET', `/${id}`)).body)).not.toContain(secret);
  });

  it('is listed by task, type, severity and agent, the newest first, in parts', async () => {
    const first = await submit({ agent: 'lister', taskId: 'TASK-2' });
    const second = await submit({ agent: 'lister', errorMessage: 'out of memory' });
    expect(idsOf(await call('GET', '?agent=lister'))).toEqual([second.id, first.id]);
    expect(idsOf(await call('GET', '?agent=lister&limit=1&offset=1'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?taskId=TASK-2'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?agent=lister&severity=critical'))).toEqual([second.id]);
    expect(idsOf(await call('GET', '?agent=lister&errorType=resource'))).toEqual([second.id]);
    expect((await call('GET', '?errorType=odd')).body.details.issues).toEqual([
      expect.objectContaining({ path: 'errorType' }),
    ]);
  });

  it('is found by its text, whatever the case', async () => {
    const { id } = await submit({ errorMessage: 'The Zebra stalled' });
    expect(idsOf(await call('GET', '/search?q=zebra'))).toEqual([id]);
    await call('PATCH', `/${id}`, { body: { rootCause: 'A quagga' } });
    expect(idsOf(await call('GET', '/search?q=QUAGGA'))).toEqual([id]);
    expect(idsOf(await call('GET', '/search?q=okapi'))).toEqual([]);
    expect((await call('GET', '/search')).status).toBe(400);
  });

  it('is counted', async () => {
    await submit({ agent: 'counted', errorMessage: 'Counted 1', errorType: 'git' });
    const before = (await call('GET', '/stats')).body;
    await submit({ agent: 'counted', errorMessage: 'Counted 2', errorType: 'git' });
    const after = (await call('GET', '/stats')).body;
    expect(after.total).toBe(before.total + 1);
    expect(after.repeats).toBe(before.repeats + 1);
    expect(after.byType.git).toBe(before.byType.git + 1);
    expect(after.bySeverity.medium).toBe(before.bySeverity.medium + 1);
  });

  it('is changed by those who know better, one of several at the same revision', async () => {
    const { id } = await submit();
    const fields = { rootCause: 'A dead lock', severity: 'high', chosenFix: 'Ordered locks', tags: ['locks'] };
    const body = { ...fields, preventionSteps: ['Take locks in order'] };
    const headers = { 'If-Match': `"errors:${id}:1"` };
    const replies = await Promise.all(Array.from({ length: 4 }, () => call('PATCH', `/${id}`, { body, headers })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ ...body, revision: 2 });
    const cleared = await call('PATCH', `/${id}`, { body: { chosenFix: null } });
    expect(cleared.body.chosenFix).toBeUndefined();
    expect((await call('PATCH', '/error_000000000000', { body })).status).toBe(404);
  });

  it.each([
    ['no message', { agent: 'bee' }, 'errorMessage'],
    ['a type that is none', { ...timeout, errorType: 'odd' }, 'errorType'],
    ['a field that is none', { ...timeout, mood: 'bad' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await call('POST', '/submit', { body });
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('is read with telemetry:read and written with telemetry:write', async () => {
    expect((await call('GET', '', { key: readKey })).status).toBe(200);
    expect((await call('GET', '', { key: agentKey })).status).toBe(200);
    expect((await call('POST', '/submit', { body: timeout, key: readKey })).status).toBe(403);
  });
});
