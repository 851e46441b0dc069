import { maxFormerVersions } from '../../../contracts/knowledge/prompt';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

const path = '/api/prompt-registry';
const input = { name: 'Review', category: 'agent', content: 'Review {{ file }} for {{reader}}, then {{file}}.' };

describe('prompts', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest: string, body?: unknown, key?: string) =>
    board.call(method, `${path}${rest}`, { body, ...(key && { key }) });
  const create = async (fields: object = {}) => {
    const made = await call('POST', '', { ...input, ...fields });
    expect(made.status).toBe(201);
    return made.body as { id: string; revision: number };
  };
  const versionsOf = async (id: string) => (await call('GET', `/${id}/versions`)).body as { version: number }[];

  it('are created with their variables, read, listed by category and deleted', async () => {
    const made = await create({ description: 'For diffs', category: 'evaluation' });
    expect(made).toMatchObject({
      ...input,
      category: 'evaluation',
      description: 'For diffs',
      variables: ['file', 'reader'],
      version: 1,
      revision: 1,
    });
    expect(made.id).toMatch(/^prompt_[0-9a-f]{12}$/);
    expect((await call('GET', `/${made.id}`)).body).toEqual(made);
    expect((await call('GET', '?category=evaluation')).body).toEqual([made]);
    expect((await call('DELETE', `/${made.id}`)).status).toBe(204);
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/versions'],
      ['GET', '/usage'],
      ['GET', '/stats'],
    ] as const) {
      expect((await call(method, `/${made.id}${rest}`)).status).toBe(404);
    }
  });

  it('take an id once', async () => {
    await create({ id: 'named' });
    expect(await call('POST', '', { ...input, id: 'named' })).toMatchObject({
      status: 409,
      body: { details: { current: { id: 'named' } } },
    });
  });

  it('have a version for each content, and none for other changes', async () => {
    const { id } = await create();
    const patch = (body: object) => call('PATCH', `/${id}`, body);
    expect((await patch({ name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', version: 1, revision: 2 });
    expect((await patch({ content: 'Now {{b}}', changelog: 'Shorter' })).body).toMatchObject({
      ...{ version: 2, variables: ['b'], changelog: 'Shorter' },
    });
    const third = (await patch({ content: 'Third' })).body;
    expect(third).toMatchObject({ version: 3, name: 'Renamed' });
    expect(third).not.toHaveProperty('changelog');
    expect(await versionsOf(id)).toMatchObject([
      { promptId: id, version: 3, content: 'Third' },
      { version: 2, content: 'Now {{b}}', changelog: 'Shorter' },
      { version: 1, content: input.content },
    ]);
    const paged = await call('GET', `/${id}/versions?limit=2`);
    expect(paged.body).toHaveLength(2);
    expect(paged.headers.get('link')).toContain('next');
  });

  it('refuse a changelog without another content, and other nonsense, by its field', async () => {
    const { id } = await create();
    const issuesOf = async (method: string, rest: string, body: object) => {
      const refused = await call(method, rest, body);
      expect(refused.status).toBe(400);
      return refused.body.details.issues.map(({ path: field }: { path: string }) => field) as string[];
    };
    expect(await issuesOf('PATCH', `/${id}`, { changelog: 'Why' })).toEqual(['changelog']);
    expect(await issuesOf('PATCH', `/${id}`, { changelog: 'Why', content: input.content })).toEqual(['changelog']);
    expect(await issuesOf('POST', '', { ...input, category: 'poem' })).toEqual(['category']);
    expect(await issuesOf('POST', '', { ...input, content: '' })).toEqual(['content']);
    expect(await issuesOf('POST', '', { ...input, variables: ['a'] })).toEqual(['variables']);
    expect(await issuesOf('POST', `/${id}/record-usage`, { inputTokens: -1 })).toEqual(['inputTokens']);
    const long = { sampleVariables: { file: 'x'.repeat(20_001) } };
    expect(await issuesOf('POST', `/${id}/render-preview`, long)).toEqual(['sampleVariables.file']);
    expect((await versionsOf(id)).map(({ version }) => version)).toEqual([1]);
  });

  it('keep the version of each of ten concurrent writers', async () => {
    const { id } = await create();
    const writers = Array.from({ length: 10 }, (_, n) => call('PATCH', `/${id}`, { content: `Writer ${n}` }));
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual(writers.map(() => 200));
    const versions = (await versionsOf(id)) as { version: number; content: string }[];
    expect(versions.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(versions.map(({ content }) => content)).size).toBe(11);
  });

  it('let one of ten writers through that have seen the same revision', async () => {
    const { id, revision } = await create();
    const writers = Array.from({ length: 10 }, (_, n) =>
      call('PATCH', `/${id}`, { content: `Writer ${n}`, expectedRevision: revision }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await versionsOf(id)).toHaveLength(2);
  });

  it('retain the newest versions only', async () => {
    const { id } = await create();
    const { prompts } = board.api.context;
    for (let n = 2; n <= maxFormerVersions + 3; n += 1) {
      await prompts.change(id, (current) => ({ ...current!, content: `Version ${n}`, version: n }));
    }
    const versions = await prompts.versionsOf((await prompts.get(id))!);
    expect(versions).toHaveLength(maxFormerVersions + 1);
    expect(versions.at(-1)).toMatchObject({ version: 3 });
  });

  it('have nothing of a deleted prompt with the same id', async () => {
    await create({ id: 'again' });
    await call('PATCH', '/again', { content: 'Second' });
    await call('POST', '/again/record-usage', {});
    await call('DELETE', '/again');
    await create({ id: 'again' });
    expect(await versionsOf('again')).toHaveLength(1);
    expect((await call('GET', '/again/stats')).body).toMatchObject({ uses: 0, lastUsedAt: null });
    expect((await call('GET', '/again/usage')).body).toEqual([]);
  });

  it('are rendered with sample values, and name what has none', async () => {
    const { id } = await create();
    const preview = `/${id}/render-preview`;
    expect((await call('POST', preview, { sampleVariables: { file: '{{reader}} $&', other: 1 } })).body).toEqual({
      renderedPrompt: 'Review {{reader}} $& for {{reader}}, then {{reader}} $&.',
      unmatchedVariables: ['reader'],
      unusedVariables: ['other'],
    });
    expect((await call('POST', preview, { sampleVariables: { file: { a: 1 } } })).status).toBe(400);
    expect((await call('POST', preview, {}, readKey)).status).toBe(403);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ content: input.content, revision: 1 });
  });

  it('know no values but those that were sent', async () => {
    const { id } = await create({ content: '{{constructor}} {{toString}}' });
    expect((await call('POST', `/${id}/render-preview`, {})).body).toMatchObject({
      renderedPrompt: '{{constructor}} {{toString}}',
      unmatchedVariables: ['constructor', 'toString'],
    });
  });

  it('refuse values that would make them too long', async () => {
    const { id } = await create({ content: '{{a}}'.repeat(30) });
    const refused = await call('POST', `/${id}/render-preview`, { sampleVariables: { a: 'x'.repeat(20_000) } });
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'sampleVariables' }] } } });
  });

  it('count what agents report of their use, without secrets', async () => {
    const { id } = await create();
    const use = (body: object) => call('POST', `/${id}/record-usage`, body, agentKey);
    const first = await use({
      model: 'm-1',
      inputTokens: 10,
      outputTokens: 5,
      renderedPrompt: 'token ghp_0123456789012345678901234567890123456789',
    });
    expect(first).toMatchObject({ status: 201, body: { promptId: id, version: 1, usedBy: 'worker', inputTokens: 10 } });
    expect(JSON.stringify(first.body)).not.toContain('ghp_0123456789');
    await call('PATCH', `/${id}`, { content: 'Second' });
    await use({ usedBy: 'planner', inputTokens: 1 });
    expect((await call('GET', `/${id}/usage`)).body).toMatchObject([{ version: 2, usedBy: 'planner' }, { version: 1 }]);
    const sums = {
      promptId: id,
      version: 2,
      uses: 2,
      inputTokens: 11,
      outputTokens: 5,
      lastUsedAt: expect.any(String),
    };
    expect((await call('GET', `/${id}/stats`)).body).toEqual(sums);
    expect((await call('GET', '/stats/all?limit=100')).body).toContainEqual(sums);
    expect((await use({ inputTokens: 1, cost: 3 })).status).toBe(400);
  });

  it('are written by administrators only', async () => {
    expect((await call('POST', '', input, agentKey)).status).toBe(403);
    expect((await call('GET', '', undefined, agentKey)).status).toBe(403);
    expect((await call('GET', '', undefined, readKey)).status).toBe(200);
  });
});
