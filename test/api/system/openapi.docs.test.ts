import { type ApiUnderTest, startTestApi } from '../api-under-test';

describe('pages of the API at /docs', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const read = async (path: string) => {
    const response = await fetch(`${board.url}${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const linksOf = (text: string) => [...text.matchAll(/href="(\/docs[^"]*)"/g)].map(([, link = '']) => link);

  it('list every operation, and link to pages and places that there are', async () => {
    const pages = new Map<string, string>();
    const links = new Set<string>(['/docs']);
    // Grows while it is read: a set goes on with what was added.
    for (const link of links) {
      const [path = ''] = link.split('#');
      if (pages.has(path)) {
        continue;
      }
      const { status, text } = await read(path);
      expect([path, status]).toEqual([path, 200]);
      pages.set(path, text);
      for (const found of linksOf(text)) {
        links.add(found);
      }
    }
    const broken = [...links].filter((link) => {
      const [path = '', place] = link.split('#');
      return place !== undefined && !pages.get(path)?.includes(`id="${place}"`);
    });
    expect(broken).toEqual([]);
    const { paths, components } = JSON.parse((await read('/api/openapi.json')).text);
    const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    const all = [...pages.values()].join('\n');
    expect(ids.filter((id) => !all.includes(`<section id="${id}">`))).toEqual([]);
    expect(Object.keys(components.schemas).filter((name) => !pages.has(`/docs/schemas/${name}`))).toEqual([]);
  });

  it('describe parameters, bodies with an example, responses and refusals', async () => {
    const { text } = await read('/docs/tasks');
    expect(text).toContain('Id of the task.');
    expect(text).toContain('&quot;title&quot;: &quot;Add helpers&quot;');
    expect(text).toContain('href="/docs/schemas/Task"');
    const index = await read('/docs');
    expect(index.text).toContain('No task has the id');
    expect((await read('/docs/schemas/TaskCreate')).text).toMatch(
      /<code>title<\/code>\s*<span class="meta">required<\/span>/,
    );
  });

  it('have a strict Content-Security-Policy, no script and no inline style, and are not sent again', async () => {
    const { headers, text } = await read('/docs');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:\/\//);
    expect((await read('/docs/style.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
    const again = await fetch(`${board.url}/docs`, {
      headers: { 'if-none-match': headers.get('etag')!, 'cache-control': 'max-age=0' },
    });
    expect(again.status).toBe(304);
  });

  it('are no other paths, and only read', async () => {
    for (const path of ['/docs/nothing', '/docs/schemas/__proto__', '/docs/', '/docsify', '/docs/%3Cscript%3E']) {
      expect([path, (await read(path)).status]).toEqual([path, 404]);
    }
    expect((await fetch(`${board.url}/docs`, { method: 'POST' })).status).toBe(404);
    const head = await fetch(`${board.url}/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('are off with the page', async () => {
    const off = await startTestApi({ BOARD_PAGE: 'false' });
    try {
      expect((await fetch(`${off.url}/docs`)).status).toBe(404);
    } finally {
      await off.close();
    }
  });
});
