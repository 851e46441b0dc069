import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { docLimits } from '../../../contracts/knowledge/doc';
import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
let dir: string;
describe('docs API', () => {
  beforeEach(async () => {
    board = await startTestApi();
    dir = join(board.dataDir, 'docs');
    mkdirSync(dir, { recursive: true });
  });
  afterEach(() => board.close());

  const at = (path: string) => `/api/docs/file/${path}`;
  const put = (path: string, content: string, fields: object = {}) =>
    board.call('PUT', at(path), { body: { content, ...fields } });
  const get = (path: string) => board.call('GET', at(path));

  it('writes, reads, lists, counts, searches and deletes documents', async () => {
    const written = await put('guides/ops/run.md', '# Run\n\nStart the Service.\n');
    expect(written).toMatchObject({
      status: 200,
      body: { path: 'guides/ops/run.md', name: 'run.md', directory: 'guides/ops', extension: 'md', size: 26 },
    });
    expect(readFileSync(join(dir, 'guides/ops/run.md'), 'utf8')).toBe('# Run\n\nStart the Service.\n');
    expect((await get('guides/ops/run.md')).body).toEqual(written.body);
    expect((await get('guides%2Fops%2Frun.md')).body).toEqual(written.body);
    await put('notes.txt', 'Nothing here.');
    const list = async (query = '') =>
      (await board.call('GET', `/api/docs${query}`)).body.map(({ path }: { path: string }) => path);
    expect(await list()).toEqual(['guides/ops/run.md', 'notes.txt']);
    expect(await list('?directory=guides')).toEqual(['guides/ops/run.md']);
    expect(await list('?extension=txt')).toEqual(['notes.txt']);
    expect(await list('?sortBy=size&sortOrder=desc')).toEqual(['guides/ops/run.md', 'notes.txt']);
    expect((await board.call('GET', '/api/docs/stats')).body).toMatchObject({
      ...{ files: 2, bytes: 39, directories: 2, byExtension: { md: 1, txt: 1 }, truncated: false },
    });
    expect((await board.call('GET', '/api/docs/directories')).body).toEqual([
      { path: '', files: 1 },
      { path: 'guides/ops', files: 1 },
    ]);
    expect((await board.call('GET', '/api/docs/search?q=the%20service')).body).toMatchObject([
      { path: 'guides/ops/run.md', matches: [{ line: 3, text: 'Start the Service.' }] },
    ]);
    expect((await board.call('DELETE', at('notes.txt'))).status).toBe(204);
    expect((await get('notes.txt')).status).toBe(404);
    const { entries } = (await board.call('GET', '/api/audit?action=doc.delete')).body;
    expect(entries).toMatchObject([{ resource: 'notes.txt' }]);
  });

  it('is about the directory that is searched, wherever that is', async () => {
    const elsewhere = join(board.dataDir, 'elsewhere');
    mkdirSync(elsewhere);
    const other = await startTestApi({ BOARD_DOCS_DIR: elsewhere });
    try {
      const body = { content: '# Quarterly report\n' };
      expect((await other.call('PUT', '/api/docs/file/report.md', { body })).status).toBe(200);
      expect(readdirSync(elsewhere)).toEqual(['report.md']);
      const refreshed = await other.call('POST', '/api/search/index/refresh', { body: {} });
      expect(refreshed.status).toBe(200);
      const { results } = (await other.call('POST', '/api/search', { body: { query: 'quarterly' } })).body;
      expect(results).toMatchObject([{ collection: 'docs', path: expect.stringContaining('report.md') }]);
    } finally {
      await other.close();
    }
  });

  it('leads nowhere outside of its directory', async () => {
    writeFileSync(join(board.dataDir, 'secret.md'), 'secret');
    writeFileSync(join(dir, '.hidden.md'), 'hidden');
    mkdirSync(join(dir, '.git'));
    writeFileSync(join(dir, '.git', 'config.txt'), 'hidden');
    for (const path of [
      ...['%2e%2e%2fsecret.md', '..%2Fsecret.md', 'a%2F..%2F..%2Fsecret.md', '%2Fetc%2Fpasswd.md', '.hidden.md'],
      ...['.git/config.txt', 'a//b.md', 'a%00.md', 'a%5C..%5Cb.md', 'run.sh', 'noextension', 'a/b/c/d/e/f/g/h/i.md'],
      `${'n'.repeat(121)}.md`,
    ]) {
      for (const { status } of [await get(path), await put(path, 'x'), await board.call('DELETE', at(path))]) {
        expect([path, status]).toEqual([path, 400]);
      }
    }
    symlinkSync(join(board.dataDir, 'secret.md'), join(dir, 'link.md'));
    symlinkSync(board.dataDir, join(dir, 'linked'));
    linkSync(join(board.dataDir, 'secret.md'), join(dir, 'hard.md'));
    for (const path of ['link.md', 'linked/secret.md', 'hard.md']) {
      for (const { status } of [await get(path), await put(path, 'x'), await board.call('DELETE', at(path))]) {
        expect([path, status]).toEqual([path, 409]);
      }
    }
    expect(readFileSync(join(board.dataDir, 'secret.md'), 'utf8')).toBe('secret');
    expect((await board.call('GET', '/api/docs')).body).toEqual([]);
    expect((await board.call('GET', '/api/docs/search?q=secret')).body).toEqual([]);
  });

  it('replaces what the writer has seen, by one of any number of writers', async () => {
    expect((await put('a.md', 'one', { expectedDigest: null })).status).toBe(200);
    const { digest } = (await get('a.md')).body;
    const writes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('a.md', `writer ${n}`, { expectedDigest: digest })),
    );
    expect(writes.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    expect((await put('a.md', 'again', { expectedDigest: null })).status).toBe(409);
    expect(readdirSync(dir)).toEqual(['a.md']);
    const refused = await put('a.md', 'again', { expectedDigest: null });
    expect(refused.body.details.next).toMatchObject({ method: 'GET', path: '/api/docs/file/a.md' });
  });

  it('removes the draft of a process that died, and shows it nowhere', async () => {
    const draft = `.${'0'.repeat(18)}.tmp`;
    writeFileSync(join(dir, draft), 'half');
    expect((await board.call('GET', '/api/docs')).body).toEqual([]);
    await put('a.md', 'whole');
    expect(readdirSync(dir)).toEqual(['a.md']);
  });

  it('reads and writes nothing that is too long or no text', async () => {
    expect((await put('long.md', 'x'.repeat(docLimits.fileBytes + 1))).status).toBe(400);
    expect((await put('long.md', 'ä'.repeat(docLimits.fileBytes / 2 + 1))).status).toBe(400);
    writeFileSync(join(dir, 'long.md'), Buffer.alloc(docLimits.fileBytes + 1, 'x'));
    expect((await get('long.md')).status).toBe(413);
    writeFileSync(join(dir, 'binary.md'), Buffer.from([0xff, 0xfe]));
    expect((await get('binary.md')).status).toBe(409);
    mkdirSync(join(dir, 'folder.md'));
    expect((await get('folder.md')).status).toBe(409);
    expect((await board.call('GET', '/api/docs/search?q=xx')).body).toEqual([]);
  });

  it('is written by those who may change settings', async () => {
    expect((await board.call('PUT', at('a.md'), { body: { content: 'x' }, key: agentKey })).status).toBe(403);
  });
});
