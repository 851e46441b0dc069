import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const generate = (body: object) =>
  api.call('POST', '/api/reports/generate', {
    body: { title: 'R', template: 'custom', content: 'Text', ...body },
    key: agentKey,
  });
const pageOf = async (body: object) => {
  const { status, body: made } = await generate(body);
  expect(status).toBe(201);
  return { made, page: await api.call('GET', `/api/reports/${made.id}/html`, { key: readKey }) };
};

describe('reports', () => {
  it('are pages of markdown with a brand and a table of contents', async () => {
    const { made, page } = await pageOf({
      ...{ title: 'Quarter', subtitle: 'Q1', template: 'audit', author: 'Ada', metadata: { Client: 'Acme' } },
      content: '# Scope\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Findings\n\n[site](https://example.org)',
      brand: { name: 'Acme & Co' },
    });
    expect(made).toMatchObject({ title: 'Quarter', includeToc: true, brand: { name: 'Acme & Co', color: '#1f4e79' } });
    expect(made.size).toBe(Buffer.byteLength(page.body));
    expect(page.body).toContain('Acme &amp; Co · Audit report');
    expect(page.body).toContain('<li class="level-2"><a href="#section-2">Findings</a></li>');
    expect(page.body).toContain('<h2 id="section-2">Findings</h2>');
    expect(page.body).toContain('<td>1</td>');
    expect(page.body).toContain('<a href="https://example.org" rel="noopener noreferrer nofollow">site</a>');
    expect(page.body).toContain('<dt>Client</dt><dd>Acme</dd>');
    expect((await api.call('GET', `/api/reports/${made.id}`)).body).toEqual(made);
    expect((await pageOf({ template: 'audit', content: '# A', includeToc: false })).page.body).not.toContain('<nav');
  });

  it('have no script and load nothing, whatever their texts are', async () => {
    const evil =
      '<script>alert(1)</script><img src=x onerror=alert(1)> ![x](https://evil.example/x.png) [l](javascript:alert(1))';
    const { page } = await pageOf({
      ...{ title: evil.slice(0, 100), subtitle: evil, author: evil, metadata: { '"><b>': evil } },
      content: `${evil}\n\n# ${evil}\n\n<iframe src="https://evil.example"></iframe>\n\n[d](data:text/html,x) <https://evil.example>`,
      brand: { name: '"><script>', footer: evil },
      includeToc: true,
    });
    expect(page.body).not.toMatch(/<(?:script|img|iframe|b|link|object)\b/i);
    expect(page.body).not.toMatch(/(?:href|src)="?(?:javascript|data):/i);
    // The names of the elements that there are; everything else is text.
    const names = [...page.body.matchAll(/<([a-z0-9]+)/g)].map(([, name]) => name);
    const allowed = [
      'html',
      'head',
      'meta',
      'title',
      'style',
      'body',
      'header',
      'main',
      'footer',
      'nav',
      'ol',
      'li',
      'a',
      'p',
      'dl',
      'dt',
      'dd',
      'h1',
    ];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^sandbox; default-src 'none'; style-src 'sha256-[^']+';/,
    );
  });

  it('have the brand that is set, at a revision', async () => {
    const brand = { name: 'Brand', color: '#aa0000', footer: 'Confidential' };
    const put = (body: object, key?: string) =>
      api.call('PUT', '/api/reports/brand', { body, ...(key ? { key } : {}) });
    expect((await api.call('GET', '/api/reports/brand', { key: readKey })).body.revision).toBe(0);
    expect(await put({ ...brand, expectedRevision: 0 })).toMatchObject({
      status: 200,
      body: { ...brand, revision: 1 },
    });
    expect((await put({ ...brand, name: 'Late', expectedRevision: 0 })).status).toBe(409);
    expect((await put(brand, agentKey)).status).toBe(403);
    expect((await put({ ...brand, color: 'red;}body{' })).status).toBe(400);
    const { page } = await pageOf({});
    expect(page.body).toContain('<footer>Confidential</footer>');
    expect(page.body).toContain('h1,h2,h3,a{color:#aa0000}');
  });

  it('are listed and deleted', async () => {
    const { body: made } = await generate({ title: 'Last' });
    expect((await api.call('GET', '/api/reports?limit=1')).body).toEqual([made]);
    expect((await api.call('DELETE', `/api/reports/${made.id}`)).status).toBe(204);
    for (const path of [made.id, `${made.id}/html`]) {
      expect((await api.call('GET', `/api/reports/${path}`)).status).toBe(404);
    }
    expect((await api.call('DELETE', `/api/reports/${made.id}`)).status).toBe(404);
    const templates = (await api.call('GET', '/api/reports/templates')).body;
    expect(templates.map(({ id }: { id: string }) => id)).toEqual([
      'audit',
      'summary',
      'analysis',
      'standup',
      'custom',
    ]);
  });

  it.each([
    [{ template: 'other' }, 'template'],
    [{ content: '' }, 'content'],
    [{ content: 'x'.repeat(200_001) }, 'content'],
    [{ title: '' }, 'title'],
    [{ brand: { logo: 'x' } }, 'logo'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, 'x'])) }, 'metadata'],
  ])('refuse %j at %s', async (body, field) => {
    const reply = await generate(body);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(field);
  });
});
