import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
  const agents = ['writer', 'coder', 'other'].map((type) => ({
    type,
    name: type,
    provider: 'process',
    command: 'true',
  }));
  await board.call('PUT', '/api/config/agents', { body: { agents } });
});
afterEach(() => board.close());

const roster = {
  name: 'Crew',
  members: [
    { id: 'docs', name: 'Docs', agent: 'writer', match: { types: ['docs'], paths: ['docs/**'] } },
    {
      id: 'backend',
      name: 'Backend',
      agent: 'coder',
      match: { types: ['code'], priorities: ['high'], capabilities: ['sql'] },
      fallback: 'docs',
      reviewers: ['docs'],
    },
  ],
  reviewers: ['backend'],
};
const path = '/api/config/team-roster';
const put = (body: unknown, headers: Record<string, string> = {}) => board.call('PUT', path, { body, headers });
const post = (to: string, body: unknown) => board.call('POST', `${path}/${to}`, { body });

it('is null until there is one, then what was set, at a revision', async () => {
  const before = await board.call('GET', path, { key: readKey });
  expect([before.status, before.body]).toEqual([200, null]);
  const set = await put(roster);
  expect(set.body).toMatchObject({ schemaVersion: 'team-roster/v1', enabled: true, name: 'Crew' });
  expect((await board.call('GET', path)).body).toEqual(set.body);
  expect(set.headers.get('ETag')).toBe('"settings:team-roster:1"');
  const renamed = { ...set.body, name: 'Night crew' };
  expect((await put(renamed, { 'If-Match': '"settings:team-roster:1"' })).status).toBe(200);
  expect((await put(set.body, { 'If-Match': '"settings:team-roster:1"' })).status).toBe(409);
});

const broken: [string, object, string][] = [
  ['two members of one id', { members: [roster.members[0], roster.members[0]] }, 'members.1.id'],
  ['a fallback that is no member', { members: [{ ...roster.members[0], fallback: 'ghost' }] }, 'members.0.fallback'],
  [
    'a member that is its own fallback',
    { members: [{ ...roster.members[0], fallback: 'docs' }] },
    'members.0.fallback',
  ],
  ['a member that reviews itself', { members: [{ ...roster.members[0], reviewers: ['docs'] }] }, 'members.0.reviewers'],
  ['a reviewer that is no member', { ...roster, reviewers: ['ghost'] }, 'reviewers.0'],
  ['a member without an agent', { members: [{ id: 'x', name: 'X' }] }, 'members.0.agent'],
  [
    'a path that climbs',
    { members: [{ id: 'x', name: 'X', agent: 'a', match: { paths: ['../**'] } }] },
    'members.0.match.paths.0',
  ],
  [
    'bounds that cross',
    { members: [{ id: 'x', name: 'X', agent: 'a', match: { minSubtasks: 3, maxSubtasks: 2 } }] },
    'members.0.match.maxSubtasks',
  ],
  ['an unknown field', { ...roster, members: [{ ...roster.members[0], skills: [] }] }, 'members.0.skills'],
];

it.each(broken)('is refused with %s, and validation reports the same', async (_case, body, at) => {
  const refused = await put(body);
  expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, at]);
  const { body: validation } = await post('validate', body);
  expect(validation).toMatchObject({ valid: false, roster: null });
  expect(validation.issues[0]).toMatchObject({ severity: 'error', path: at });
  expect((await board.call('GET', path)).body).toBeNull();
});

it('is validated as an object or a text, with what is worth a look', async () => {
  const unknown = { members: [{ id: 'x', name: 'X', agent: 'ghost', enabled: false }] };
  const expected = {
    valid: true,
    roster: { members: [{ id: 'x' }] },
    issues: [
      { severity: 'warning', code: 'unknown_agent', path: 'members.0.agent' },
      { severity: 'warning', code: 'nobody' },
    ],
  };
  expect((await post('validate', unknown)).body).toMatchObject(expected);
  expect((await post('validate', { content: JSON.stringify(unknown), format: 'json' })).body).toMatchObject(expected);
  const text = 'members:\n  - {id: x, name: X, agent: ghost, enabled: false}\n';
  expect((await post('validate', { content: text })).body).toMatchObject(expected);
  expect((await post('validate', { content: 'a: *b' })).body).toMatchObject({
    valid: false,
    issues: [{ path: 'content' }],
  });
});

it.each(['yaml', 'json'])('goes out as %s and comes back the same', async (format) => {
  await put(roster);
  const exported = await board.call('GET', `${path}/export?format=${format}`, { key: readKey });
  expect(exported.headers.get('content-disposition')).toBe(`attachment; filename="team-roster.${format}"`);
  const content = format === 'json' ? JSON.stringify(exported.body) : (exported.body as string);
  await put({ members: [] });
  const imported = await post('import', { content, format });
  expect([imported.status, imported.body.members]).toMatchObject([200, [{ id: 'docs' }, { id: 'backend' }]]);
  expect((await board.call('GET', path)).body).toEqual(imported.body);
});

it('is not imported from what is no roster, and what was there stays', async () => {
  await put(roster);
  const bomb = ['a: &a [x,x,x]', 'b: &b [*a,*a,*a]', 'members: [*b,*b]'].join('\n');
  for (const [content, at] of [
    [bomb, 'content'],
    ['{', 'content'],
    ['members: 3', 'members'],
    ['members: []\nsecretPlan: x', 'secretPlan'],
  ]) {
    const refused = await post('import', { content });
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, at]);
  }
  expect((await post('import', { content: 'x'.repeat(300_000) })).status).toBe(400);
  expect((await board.call('GET', path)).body.name).toBe('Crew');
});

it('cannot be exported while there is none', async () => {
  expect((await board.call('GET', `${path}/export`)).status).toBe(404);
});

describe('preview-route', () => {
  const preview = async (work: object) => (await post('preview-route', work)).body;

  it('reports who takes the work, who takes over and who reviews', async () => {
    await put(roster);
    const work = { type: 'code', priority: 'high', capabilities: ['sql'], subtaskCount: 1 };
    expect(await preview(work)).toMatchObject({
      matched: { id: 'backend', agent: 'coder' },
      fallback: { id: 'docs' },
      reviewers: [{ id: 'docs' }],
      selected: { agent: 'coder', profileId: null },
      rule: 'team-roster:backend',
      issues: [],
    });
    expect(await preview({ type: 'docs', path: 'docs/a.md' })).toMatchObject({
      matched: { id: 'docs' },
      reviewers: [{ id: 'backend' }],
    });
    expect(await preview({ type: 'docs', path: 'src/a.md' })).toMatchObject({ matched: null, selected: null });
  });

  it('reports that there is none, or that it is off', async () => {
    expect(await preview({})).toMatchObject({ matched: null, reason: 'There is no team roster.' });
    await put({ ...roster, enabled: false });
    expect(await preview({ type: 'docs' })).toMatchObject({ matched: null, reason: 'The team roster is off.' });
  });
});

it('is asked before the rules are', async () => {
  await put(roster);
  const routed = await board.call('POST', '/api/agents/route', {
    body: { type: 'docs', path: 'docs/a.md' },
    key: agentKey,
  });
  expect(routed.body).toMatchObject({ agent: 'writer', rule: 'team-roster:docs' });
  const trace = (await board.call('GET', `/api/governance/traces/${routed.body.traceId}`)).body;
  expect(trace.evaluatedRules.map(({ id }: { id: string }) => id)).toEqual(['team-roster:docs', 'team-roster:backend']);
});

it('is read and written by those who may', async () => {
  expect((await board.call('GET', path, { key: agentKey })).status).toBe(403);
  expect((await board.call('PUT', path, { body: roster, key: agentKey })).status).toBe(403);
});
