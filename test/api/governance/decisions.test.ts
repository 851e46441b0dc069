import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('decisions API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/decisions${rest}`, { key: agentKey, ...options });
  const add = async (body: object) =>
    (await call('POST', '', { body: { decision: 'Go', confidence: 0.5, ...body } })).body;
  const idsOf = async (query: string) => (await call('GET', `?${query}`)).body.map(({ id }: { id: string }) => id);

  it('are written down and read with what they follow from', async () => {
    const { id: taskId } = (await board.call('POST', '/api/tasks', { body: { title: 'T' } })).body;
    const first = await add({
      reasoning: 'It is late',
      evidence: ['the clock'],
      agent: 'ant',
      taskId,
      outcome: 'well',
    });
    expect(first).toMatchObject({
      ...{
        id: expect.stringMatching(/^decision_[0-9a-f]{12}$/),
        decision: 'Go',
        confidence: 0.5,
        agent: 'ant',
        taskId,
      },
      ...{ reasoning: 'It is late', evidence: ['the clock'], assumptions: [], outcome: 'well', revision: 1 },
    });
    const second = await add({ parentDecisionId: first.id });
    const third = await add({ parentDecisionId: second.id });
    const { body } = await call('GET', `/${third.id}`, { key: readKey });
    expect(body).toEqual({ decision: third, chain: [first, second, third] });
    expect(await idsOf(`taskId=${taskId}`)).toEqual([first.id]);
  });

  it('are taken in the words of existing clients', async () => {
    const body = {
      ...{ inputContext: 'It is late', outputAction: 'Go', assumptions: ['a'], confidenceLevel: 85, riskScore: 30 },
      agentId: 'bee',
    };
    expect(await call('POST', '', { body })).toMatchObject({
      status: 201,
      body: { decision: 'Go', reasoning: 'It is late', confidence: 0.85, riskScore: 30, agent: 'bee' },
    });
  });

  it('are listed by agent, confidence, risk and time, in pages', async () => {
    const sure = await add({ agent: 'lister', confidence: 0.9, riskScore: 80 });
    const unsure = await add({ agent: 'lister', confidence: 0.2, riskScore: 10 });
    const riskless = await add({ agent: 'lister' });
    const of = (query: string) => idsOf(`agent=lister&${query}`);
    expect(await of('minConfidence=0.9')).toEqual([sure.id]);
    expect(await of('minConfidence=90')).toEqual([sure.id]);
    expect(await of('maxConfidence=0.2')).toEqual([unsure.id]);
    expect(await of('minRisk=50')).toEqual([sure.id]);
    expect(await of('minRisk=0&maxRisk=50')).toEqual([unsure.id]);
    expect(new Set(await of('limit=500'))).toEqual(new Set([sure.id, unsure.id, riskless.id]));
    expect(await of('limit=2&page=2')).toHaveLength(1);
    expect(await of('startTime=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await of('endTime=2000-01-01T00:00:00Z')).toEqual([]);
  });

  it('have assumptions that turn out to hold or not, in both notations', async () => {
    const { id } = await add({ assumptions: ['a', { text: 'b' }, { text: 'c', held: true }] });
    const patch = (index: number | string, body: object) => call('PATCH', `/${id}/assumptions/${index}`, { body });
    expect((await patch(0, { held: true })).body.assumptions).toEqual([
      { text: 'a', held: true, status: 'validated' },
      { text: 'b', held: null, status: 'open' },
      { text: 'c', held: true, status: 'validated' },
    ]);
    expect((await patch(1, { status: 'invalidated', note: 'No.' })).body.assumptions[1]).toEqual({
      ...{ text: 'b', held: false, status: 'invalidated', note: 'No.' },
    });
    expect((await patch(2, { text: 'd', held: null })).body.assumptions[2]).toEqual({
      ...{ text: 'd', held: null, status: 'open' },
    });
    expect(await patch(3, { held: true })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'idx' }] } },
    });
    expect(await patch('x', { held: true })).toMatchObject({ status: 400 });
    expect(await patch(0, { held: true, status: 'validated' })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'status' }] } },
    });
  });

  it('lose no change of their assumptions when several change at once', async () => {
    const { id } = await add({ assumptions: Array.from({ length: 8 }, (_each, index) => `assumption ${index}`) });
    const all = Array.from({ length: 8 }, (_each, index) =>
      call('PATCH', `/${id}/assumptions/${index}`, { body: { held: true } }),
    );
    await Promise.all(all);
    const { assumptions, revision } = (await call('GET', `/${id}`)).body.decision;
    expect(assumptions.map(({ held }: { held: boolean }) => held)).toEqual(Array(8).fill(true));
    expect(revision).toBe(9);
  });

  it.each([
    [{ confidence: 0.5 }, 'decision'],
    [{ decision: 'Go' }, 'confidence'],
    [{ decision: 'Go', outputAction: 'Go', confidence: 1 }, 'decision'],
    [{ decision: 'Go', confidence: 101 }, 'confidence'],
    [{ decision: 'Go', confidence: 1, riskScore: -1 }, 'riskScore'],
    [{ decision: 'Go', confidence: 1, agent: 'a', agentId: 'a' }, 'agentId'],
    [{ decision: 'Go', confidence: 1, mood: 'good' }, 'mood'],
  ])('are refused as %p by the path of the field', async (body, path) => {
    expect(await call('POST', '', { body })).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
  });

  it('are about tasks and decisions that there are, by those who may write tasks', async () => {
    const body = { decision: 'Go', confidence: 1 };
    const missingId = 'decision_000000000000';
    for (const more of [{ taskId: 'task_20260101_nobody' }, { parentDecisionId: missingId }]) {
      expect(await call('POST', '', { body: { ...body, ...more } })).toMatchObject({ status: 404 });
    }
    expect(await call('GET', `/${missingId}`)).toMatchObject({ status: 404 });
    expect(await call('PATCH', `/${missingId}/assumptions/0`, { body: { held: true } })).toMatchObject({ status: 404 });
    expect(await call('POST', '', { body, key: readKey })).toMatchObject({ status: 403 });
    expect(await call('GET', '', { key: null })).toMatchObject({ status: 401 });
  });
});
