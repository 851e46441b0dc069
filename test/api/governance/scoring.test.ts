import { createFindPatterns } from '../../../api/governance/scoring/patterns/find-patterns';
import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, rest: string, options: CallOptions = {}) =>
  board.call(method, `/api/scoring${rest}`, options);
const regex = { id: 'tests', name: 'Runs tests', type: 'RegexMatch', pattern: 'tests? passed', flags: 'i' };
const keywords = { id: 'words', name: 'Says why', type: 'KeywordContains', keywords: ['because', 'risk'], weight: 3 };
const profile = { name: 'Careful', compositeMethod: 'weightedAverage', scorers: [regex, keywords] };
const create = async (fields: object = {}) =>
  (await call('POST', '/profiles', { body: { ...profile, ...fields } })).body;
const evaluate = async (body: object, key?: string) => {
  await nextMillisecond();
  return call('POST', '/evaluate', { body, ...(key && { key }) });
};
const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);
/** Backtracks practically for ever. */
const endless = { pattern: '^(a+)+$', text: `${'a'.repeat(60)}!` };

describe('a profile', () => {
  it('is made with defaults, read, replaced and deleted', async () => {
    const made = await call('POST', '/profiles', { body: profile });
    expect(made).toMatchObject({ status: 201, body: { ...profile, revision: 1 } });
    expect(made.body.scorers[0]).toMatchObject({ weight: 1, target: 'output', invert: false });
    const { id } = made.body;
    expect((await call('GET', `/profiles/${id}`)).body).toEqual(made.body);
    const other = { name: 'Other', compositeMethod: 'minimum', scorers: [keywords] };
    const put = () => call('PUT', `/profiles/${id}`, { body: other, headers: { 'If-Match': '1' } });
    const replies = await Promise.all([put(), put(), put()]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await call('GET', `/profiles/${id}`)).body).toMatchObject({ ...other, revision: 2 });
    expect((await call('DELETE', `/profiles/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/profiles/${id}`)).status).toBe(404);
    expect((await call('PUT', `/profiles/${id}`, { body: other })).status).toBe(404);
  });

  it('is listed by name, in parts', async () => {
    const b = await create({ name: '00 b' });
    const a = await create({ name: '00 a' });
    expect(idsOf(await call('GET', '/profiles?limit=2'))).toEqual([a.id, b.id]);
    expect(idsOf(await call('GET', '/profiles?limit=1&offset=1'))).toEqual([b.id]);
  });

  it.each([
    ['a pattern that is none', { scorers: [{ ...regex, pattern: '(' }] }, 'scorers.0.pattern'],
    ['a pattern too long', { scorers: [{ ...regex, pattern: 'a'.repeat(501) }] }, 'scorers.0.pattern'],
    ['flags that remember', { scorers: [{ ...regex, flags: 'g' }] }, 'scorers.0.flags'],
    ['another scorer', { scorers: [{ ...regex, type: 'Oracle' }] }, 'scorers.0.type'],
    ['a field that is none', { scorers: [{ ...regex, mood: 1 }] }, 'scorers.0.mood'],
    ['the same id twice', { scorers: [regex, regex] }, 'scorers'],
    ['no weight at all', { scorers: [{ ...regex, weight: 0 }] }, 'scorers'],
    ['another method', { compositeMethod: 'best' }, 'compositeMethod'],
  ])('is refused with %s by the path of the field', async (_case, fields, path) => {
    const refused = await call('POST', '/profiles', { body: { ...profile, ...fields } });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});

describe('work', () => {
  it('is scored by every scorer, and the score is kept', async () => {
    const { id: profileId } = await create();
    const output = 'All 3 TESTS PASSED because of care';
    const scored = await evaluate({ profileId, output, agent: 'bee', taskId: 'TASK-1' }, agentKey);
    expect(scored).toMatchObject({
      status: 200,
      body: {
        profileId,
        score: 0.625,
        compositeMethod: 'weightedAverage',
        scorerResults: [
          { scorerId: 'tests', score: 1, weight: 1 },
          { scorerId: 'words', score: 0.5, weight: 3, explanation: '1 of 2 keywords found' },
        ],
      },
    });
    expect((await call('GET', `/history?profileId=${profileId}`)).body).toEqual([scored.body]);
    expect(JSON.stringify(scored.body)).not.toContain('of care');
  });

  it.each([
    [{ ...keywords, match: 'all' }, 'because', 0],
    [{ ...keywords, match: 'any' }, 'because', 1],
    [{ ...keywords, match: 'any', caseSensitive: true }, 'BECAUSE', 0],
    [{ ...keywords, match: 'any', invert: true }, 'because', 0],
    [{ ...regex, invert: true }, 'nothing', 1],
    [{ ...regex, target: 'action' }, 'tests passed', 0],
  ])('by %j of "%s" is %d', async (scorer, output, expected) => {
    const { id: profileId } = await create({ scorers: [scorer] });
    expect((await evaluate({ profileId, output })).body.score).toBe(expected);
  });

  it('is scored although a pattern never ends, and others are served meanwhile', async () => {
    const slow = { ...regex, id: 'slow', pattern: endless.pattern };
    const { id: profileId } = await create({ compositeMethod: 'maximum', scorers: [slow, { ...regex, pattern: '!' }] });
    const scoring = evaluate({ profileId, output: endless.text });
    expect((await call('GET', '/profiles')).status).toBe(200);
    const { body } = await scoring;
    expect(body.score).toBe(1);
    expect(body.scorerResults).toMatchObject([{ score: 0, explanation: 'the pattern took too long' }, { score: 1 }]);
  });

  it('is not looked through any further after some patterns that never end', async () => {
    const searches = Array.from({ length: 5 }, () => ({ ...endless, flags: '' }));
    const found = await createFindPatterns({ withinMs: 50, mostSlow: 2 })([
      ...searches,
      { pattern: 'a', flags: '', text: 'a' },
    ]);
    expect(found).toEqual(Array.from({ length: 6 }));
  });

  it('is found by what it was, the newest first, in parts', async () => {
    const { id: profileId } = await create();
    const first = (await evaluate({ profileId, output: 'x', agent: 'historian' })).body;
    const second = (await evaluate({ profileId, output: 'y', agent: 'historian', taskId: 'TASK-9' })).body;
    expect(idsOf(await call('GET', '/history?agent=historian'))).toEqual([second.id, first.id]);
    expect(idsOf(await call('GET', '/history?agent=historian&limit=1&offset=1'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '/history?taskId=TASK-9'))).toEqual([second.id]);
    expect(idsOf(await call('GET', `/history?agent=historian&until=${first.evaluatedAt}`))).toEqual([first.id]);
  });

  it('needs a profile, and some output', async () => {
    expect((await evaluate({ profileId: 'scoring_000000000000', output: 'x' })).status).toBe(404);
    const refused = await evaluate({ profileId: 'scoring_000000000000' });
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path: 'output' }));
  });
});

it('is read with report:read, and configured with settings:write', async () => {
  expect((await call('GET', '/profiles', { key: readKey })).status).toBe(200);
  expect((await call('POST', '/profiles', { body: profile, key: agentKey })).status).toBe(403);
  expect((await call('POST', '/evaluate', { body: {}, key: readKey })).status).toBe(403);
});
