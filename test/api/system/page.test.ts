import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { openPage } from '../../../api/system/index/page';
import { readEnvironment } from '../../../platform/config/env';
import { readPageFiles } from '../../../platform/http/page/page-files';
import { createLog } from '../../../platform/log/log';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { TestWatcher } from '../../support/watcher';
import { adminKey, type ApiUnderTest, startTestApi } from '../api-under-test';
import { rawRequest } from '../http/raw-request';

const built = join(__dirname, '..', '..', '..', 'dist', 'page');
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('page', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const get = (path: string, headers: Record<string, string> = browser) => fetch(`${board.url}${path}`, { headers });
  const assetsOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);

  it('is served to browsers at / with a strict Content-Security-Policy and without inline code', async () => {
    const response = await get('/');
    const html = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  it.each(['/login', '/approvals', '/tasks/task_20260101_abc', '/tasks/task_1/runs/attempt_1', '/tasks/task_1/diff'])(
    'falls back to the document at the view %s',
    async (path) => {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    },
  );

  it('serves exactly the views that the page has', async () => {
    const router = await readFile(join(__dirname, '..', '..', '..', 'web', 'src', 'app', 'router.tsx'), 'utf8');
    const views = [...router.matchAll(/^  path: '([^']+)'/gm)].map(([, path]) => path!.replaceAll(/\$\w+/g, 'x1'));
    expect(views.length).toBeGreaterThan(10);
    const without = ['/archives', '/settings/x1', '/workflows/x1'];
    const served = await Promise.all([...views, ...without].map(async (path) => (await get(path)).status === 200));
    expect(served).toEqual([...views.map(() => true), ...without.map(() => false)]);
  });

  it('leaves other paths and programs to the API', async () => {
    const index = await get('/', { accept: 'application/json' });
    expect(await index.json()).toMatchObject({ service: 'runboard' });
    expect(index.headers.get('vary')).toMatch(/Accept/);
    const tasks = await get('/api/tasks');
    expect([tasks.status, tasks.headers.get('content-type')]).toEqual([401, expect.stringContaining('json')]);
    for (const path of [
      '/nothing',
      '/assets/nothing.js',
      '/../package.json',
      '/assets/%2e%2e/index.html',
      '/tasks/a/b/c',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    const posted = await fetch(`${board.url}/login`, { method: 'POST', headers: browser });
    expect(posted.status).toBe(404);
  });

  it('caches assets for ever and sends them compressed', async () => {
    const html = await (await get('/')).text();
    const [asset] = assetsOf(html);
    const response = await get(asset!);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const tag = response.headers.get('etag')!;
    const again = await get(asset!, { 'if-none-match': tag, 'cache-control': 'max-age=0' });
    expect(again.status).toBe(304);
    const plain = await get(asset!, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
  });

  it('needs at most 250 KB compressed for the first view', async () => {
    const html = await readFile(join(built, 'index.html'), 'utf8');
    const files = await Promise.all(assetsOf(html).map((path) => readFile(join(built, path))));
    const total = [Buffer.from(html), ...files].reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
    expect(files.length).toBeGreaterThan(1);
    expect(total).toBeLessThanOrEqual(250_000);
  });

  it('is off by its setting', async () => {
    const off = await startTestApi({ BOARD_PAGE: 'false' });
    try {
      const index = await fetch(off.url, { headers: browser });
      expect(await index.json()).toMatchObject({ service: 'runboard' });
      expect((await fetch(`${off.url}/login`, { headers: browser })).status).toBe(404);
    } finally {
      await off.close();
    }
  });
});

describe('page in production', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi({ NODE_ENV: 'production' });
  });
  afterAll(() => board.close());

  const headersOf = (host: string, origin: string) => ({
    Host: host,
    Origin: origin,
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': 'application/json',
    'X-API-Key': adminKey,
  });
  const post = async (path: string, headers: Record<string, string>, body: object = {}) => {
    const { status, text } = await rawRequest(board.url, { method: 'POST', path, headers, body: JSON.stringify(body) });
    return { status, body: JSON.parse(text) as { code?: string; error?: string; ticket?: string } };
  };

  it.each(['127.0.0.1', 'localhost', '192.0.2.7'])('writes and watches under the address %s', async (address) => {
    const host = `${address}:${board.api.port}`;
    const headers = headersOf(host, `http://${host}`);
    expect((await post('/api/tasks', headers, { title: 'Of the page' })).status).toBe(201);
    const { body } = await post('/api/auth/ws-ticket', headers);
    const watcher = await TestWatcher.open(board.url, { headers }, `?ticket=${body.ticket}`);
    watcher.close();
  });

  it.each([
    ['a name that was rebound', (port: number) => [`evil.example:${port}`, `http://evil.example:${port}`]],
    ['another port', (port: number) => [`127.0.0.1:${port}`, 'http://127.0.0.1:5173']],
    ['another site', (port: number) => [`127.0.0.1:${port}`, 'https://evil.example']],
  ])('is refused under %s, with the setting that allows it', async (_case, addressed) => {
    const [host = '', origin = ''] = addressed(board.api.port);
    const headers = headersOf(host, origin);
    const refused = await post('/api/tasks', headers, { title: 'a' });
    expect([refused.status, refused.body.code]).toEqual([403, 'CORS_REJECTED']);
    expect(refused.body.error).toContain('BOARD_PUBLIC_URL');
    await expect(TestWatcher.open(board.url, { headers })).rejects.toThrow('403');
  });

  it('is refused a sign-in under a name, and not under the own address', async () => {
    const signIn = (host: string) =>
      post('/api/auth/login', headersOf(host, `http://${host}`), { password: 'not the password' });
    expect((await signIn(`evil.example:${board.api.port}`)).body.code).toBe('CORS_REJECTED');
    expect((await signIn(`127.0.0.1:${board.api.port}`)).body.code).not.toBe('CORS_REJECTED');
  });

  it.each([
    ['that listens on all addresses without an origin', { BOARD_HOST: '0.0.0.0' }, 1],
    ['with its address', { BOARD_HOST: '0.0.0.0', BOARD_PUBLIC_URL: 'https://board.example' }, 0],
    ['with an allowed origin', { BOARD_HOST: '0.0.0.0', BOARD_ALLOWED_ORIGINS: 'https://board.example' }, 0],
    ['that listens on this machine alone', {}, 0],
    ['that serves no page', { BOARD_HOST: '0.0.0.0', BOARD_PAGE: 'false' }, 0],
    ['of development', { BOARD_HOST: '0.0.0.0', NODE_ENV: 'development' }, 0],
  ])('is warned about by a service %s: %#', async (_case, settings, warnings) => {
    const env = readEnvironment({ NODE_ENV: 'production', BOARD_ADMIN_KEY: adminKey, ...settings });
    const lines: string[] = [];
    const log = createLog({ name: 'test', level: 'warn' }, { write: (line) => void lines.push(line) });
    await openPage({ env, log });
    expect(lines.filter((line) => line.includes('BOARD_PUBLIC_URL'))).toHaveLength(warnings);
  });
});

describe('files of a page', () => {
  it('are those of known types in a built folder, compressed where that is shorter', async () => {
    const directory = await makeTempDir('page');
    try {
      expect(await readPageFiles(join(directory.path, 'missing'))).toBeUndefined();
      expect(await readPageFiles(directory.path)).toBeUndefined();
      await mkdir(join(directory.path, 'assets'));
      await writeFile(join(directory.path, 'index.html'), '<!doctype html>');
      await writeFile(join(directory.path, 'assets', 'a.js'), 'let a;'.repeat(100));
      await writeFile(join(directory.path, 'assets', 'a.js.map'), '{}');
      const files = (await readPageFiles(directory.path))!;
      expect([...files.keys()]).toEqual(['/assets/a.js', '/index.html']);
      expect(gunzipSync(files.get('/assets/a.js')!.gzipped!).toString()).toBe('let a;'.repeat(100));
      expect(files.get('/index.html')!.gzipped).toBeUndefined();
    } finally {
      await directory.remove();
    }
  });
});
