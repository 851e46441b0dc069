import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { eventually } from '../../../../platform/testing/eventually';
import { aPresetsFile, presets } from '../commands-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let service: WorkflowRunsUnderTest;
let runs: RunClient;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  const filtered = { id: 'filtered', name: 'Filtered', network: { blockMetadataEndpoints: true } };
  file = await aPresetsFile({ presets: [...presets.presets, filtered] });
  service = await startServiceUnderTest({ ...file.settings, WORKFLOW_RUNS_PREVIEW_PORT: '0' });
  runs = aRunClient(service);
});
afterAll(async () => {
  await service.close();
  await file.close();
});

/** Answers with what it was asked, and tries to have a browser store and ask for things. */
const serving = (more = ''): string[] => [
  'node',
  '-e',
  `const http = require('node:http'); console.log('serving');
   const server = http.createServer((request, response) => {
     ${more}
     response.setHeader('set-cookie', 'a=b');
     response.setHeader('strict-transport-security', 'max-age=1000');
     response.setHeader('location', 'http://localhost:8000/next');
     let body = ''; request.on('data', (chunk) => body += chunk).on('end', () =>
       response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })));
   });
   server.on('upgrade', (request, socket) => {
     const key = require('node:crypto').createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
     socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSet-Cookie: a=b\\r\\nSec-WebSocket-Accept: ' + key + '\\r\\n\\r\\n');
     socket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
   });
   server.listen(8000, '127.0.0.1');`,
];

async function aRunWithWorkspace(): Promise<string> {
  const id = await runs.start('digraph { start -> a -> exit; a [type=command, command="touch made"] }');
  await runs.untilStatus(id, 'completed');
  return id;
}
const open = (id: string, input: object) =>
  service.call('POST', `/runs/${id}/preview`, { port: 8000, expires_in_secs: 600, ...input });
async function opened(id: string, input: object): Promise<{ id: string; url: string; expires_at: string }> {
  const { status, body } = await open(id, input);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}
/** Calls a URL as a browser does, which knows that names of localhost are this machine. */
const visit = (
  url: string,
  {
    host = new URL(url).host,
    body,
    ...options
  }: { host?: string; method?: string; headers?: object; body?: string } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port, pathname, search } = new URL(url);
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: `${pathname}${search}`,
        ...options,
        headers: { ...options.headers, host },
        agent: false,
      },
      (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => (text += chunk))
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    ).on('error', reject);
    sent.end(body);
  });
const served = (url: string): Promise<Answer> =>
  eventually(async () => {
    const answer = await visit(url);
    expect(answer.status).toBe(200);
    return answer;
  });

describe('a preview of a run', () => {
  it.each(['closed', 'filtered'])(
    'serves the port of its program alone, in the preset %s, without cookies and credentials',
    async (sandbox) => {
      const id = await aRunWithWorkspace();
      const { url, id: previewId } = await opened(id, { command: serving(), sandbox });
      expect(url).toMatch(/^http:\/\/[0-9a-f]{48}\.localhost:\d+\/$/);
      const root = await served(url);
      expect(root.headers).toMatchObject({ location: '/next', 'referrer-policy': 'no-referrer' });
      expect(Object.keys(root.headers)).toEqual(
        expect.not.arrayContaining(['set-cookie', 'strict-transport-security', 'www-authenticate']),
      );
      const sent = await visit(`${url}path?a=b`, {
        method: 'POST',
        body: 'text',
        headers: {
          cookie: 'session=s',
          authorization: 'Bearer t',
          referer: url,
          origin: new URL(url).origin,
          'x-own': '1',
        },
      });
      const received = JSON.parse(sent.text) as { headers: Record<string, string> };
      expect(received).toMatchObject({
        ...{ method: 'POST', url: '/path?a=b', body: 'text' },
        headers: { host: 'localhost:8000', origin: 'http://localhost:8000', 'x-own': '1' },
      });
      for (const name of ['cookie', 'authorization', 'referer']) {
        expect(received.headers).not.toHaveProperty(name);
      }
      expect(await runs.get(`/runs/${id}/previews/${previewId}`)).toMatchObject({
        ...{ id: previewId, status: 'running', port: 8000, created_by: 'ann', stdout: { text: 'serving\n', bytes: 8 } },
      });
      expect(JSON.stringify(await runs.get(`/runs/${id}/previews`))).not.toContain(new URL(url).hostname.split('.')[0]);
      expect((await service.call('DELETE', `/runs/${id}/previews/${previewId}`)).status).toBe(204);
      expect((await visit(url)).status).toBe(404);
      expect(await runs.get(`/runs/${id}/previews/${previewId}`)).toMatchObject({
        ...{ status: 'ended', end: 'stopped', exit_code: null, stdout: { text: 'serving\n' } },
      });
    },
  );

  it('passes WebSockets on', async () => {
    const id = await aRunWithWorkspace();
    const { url } = await opened(id, { command: serving() });
    await served(url);
    const { host, port } = new URL(url);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host, cookie: 'a=b' } });
    const headers = new Promise<IncomingHttpHeaders>((resolve) =>
      socket.once('upgrade', (answer) => resolve(answer.headers)),
    );
    expect(await new Promise((resolve) => socket.once('message', (data: Buffer) => resolve(data.toString())))).toBe(
      'hi',
    );
    expect(await headers).not.toHaveProperty('set-cookie');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const [{ id: previewId }] = (await runs.get(`/runs/${id}/previews`)).data;
    await service.call('DELETE', `/runs/${id}/previews/${previewId}`);
    await closed;
  });

  it('is found by its whole URL, and by no other name', async () => {
    const id = await aRunWithWorkspace();
    const { url } = await opened(id, { command: serving() });
    await served(url);
    const { hostname, port } = new URL(url);
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `${'0'.repeat(48)}.localhost`,
      `${hostname}.evil.example`,
    ]) {
      expect(await visit(url, { host })).toMatchObject({ status: 404 });
    }
    expect((await visit(url, { method: 'CONNECT' }).catch(() => ({ status: 0 }))).status).toBe(0);
  });

  it('has several URLs, each of which is over at its time, and the program with the first', async () => {
    const id = await aRunWithWorkspace();
    const first = await opened(id, { command: serving(), expires_in_secs: 600 });
    await served(first.url);
    const short = await opened(id, { expires_in_secs: 1 });
    expect(short.id).toBe(first.id);
    await eventually(async () => expect((await visit(short.url)).status).toBe(404));
    expect((await visit(first.url)).status).toBe(200);
    expect((await opened(id, { expires_in_secs: 86_400 })).expires_at).toBe(first.expires_at);
    const again = await open(id, { command: serving() });
    expect(again).toMatchObject({
      status: 409,
      body: { errors: [{ detail: expect.stringContaining('on port 8000 runs') }] },
    });
    const brief = await opened(await aRunWithWorkspace(), { command: ['sleep', '5501'], expires_in_secs: 1 });
    await untilGone('sleep\u00005501');
    expect((await visit(brief.url)).status).toBe(404);
  });

  it('shows that its program does not answer, and how it has ended', async () => {
    const id = await aRunWithWorkspace();
    const quiet = await opened(id, { command: ['sleep', '5502'] });
    expect(await visit(quiet.url)).toMatchObject({
      status: 502,
      text: expect.stringContaining('does not answer on port 8000'),
    });
    const broken = await opened(id, { port: 8001, command: ['sh', '-c', 'echo why >&2; exit 3'] });
    await eventually(async () =>
      expect(await runs.get(`/runs/${id}/previews/${broken.id}`)).toMatchObject({
        ...{ status: 'ended', end: 'exited', exit_code: 3, stderr: { text: 'why\n', bytes: 4 } },
      }),
    );
    expect((await runs.get(`/runs/${id}/previews`)).data.map(({ id: of }: { id: string }) => of)).toEqual([
      ...[broken.id, quiet.id],
    ]);
  });

  it('leads nowhere else when its program puts something else where its socket is', async () => {
    const other = createServer((_request, response) => void response.end('of the host'));
    const path = join(service.dataDir, 'other.sock');
    await new Promise<void>((resolve) => other.listen(path, resolve));
    const onPort = createServer((_request, response) => void response.end('of the host'));
    await new Promise<void>((resolve) => onPort.listen(0, '127.0.0.1', resolve));
    try {
      const id = await aRunWithWorkspace();
      const script = `cd /run/board/serve && rm port && ln -s '${path}' port && echo done; sleep 5503`;
      const preview = await opened(id, { port: (onPort.address() as AddressInfo).port, command: ['sh', '-c', script] });
      expect((await visit(preview.url)).status).toBe(502);
      await eventually(async () =>
        expect(await runs.get(`/runs/${id}/previews/${preview.id}`)).toMatchObject({ stdout: { text: 'done\n' } }),
      );
      expect((await visit(preview.url)).status).toBe(502);
    } finally {
      other.close();
      onPort.close();
    }
  });

  it('ends with the workspace of its run, also when an earlier removal was killed in the middle', async () => {
    const sweeping = await startServiceUnderTest(
      { ...file.settings, WORKFLOW_RUNS_PREVIEW_PORT: '0', WORKFLOW_RUNS_WORKSPACE_RETENTION_MS: '1' },
      { sweepEveryMs: 100 },
    );
    try {
      const client = aRunClient(sweeping);
      const id = await client.start(
        'digraph { start -> a -> ask -> exit; a [type=command, command="ls"]; ask [shape=hexagon] }',
      );
      await eventually(async () => expect(await client.questions(id)).toHaveLength(1));
      const { body } = await sweeping.call('POST', `/runs/${id}/preview`, {
        ...{ port: 8000, expires_in_secs: 600, command: serving() },
      });
      await served(body.url);
      const directory = join(sweeping.dataDir, 'workflow-runs', 'workspaces');
      await mkdir(join(directory, `.removing-${id}`, 'a'), { recursive: true });
      await client.post(`/runs/${id}/cancel`, {}, 200);
      await eventually(async () => expect(await readdir(directory)).toEqual([]));
      await eventually(async () =>
        expect(await client.get(`/runs/${id}/previews/${body.id}`)).toMatchObject({ end: 'workspace-removed' }),
      );
      expect((await visit(body.url)).status).toBe(404);
      const again = await sweeping.call('POST', `/runs/${id}/preview`, {
        port: 1,
        expires_in_secs: 1,
        command: ['ls'],
      });
      expect(again).toMatchObject({
        status: 409,
        body: { errors: [{ detail: expect.stringMatching(/^Run has no active/) }] },
      });
    } finally {
      await sweeping.close();
    }
  });

  it('leaves no process and no socket when the service ends, which its record states', async () => {
    const id = await aRunWithWorkspace();
    const { id: previewId } = await opened(id, { command: ['sleep', '5504'] });
    await service.restart();
    await untilGone('sleep\u00005504');
    const left = await readdir(join(service.dataDir, 'workflow-runs', 'sandbox'));
    expect(left.filter((name) => name.endsWith('.serve'))).toEqual([]);
    expect(await runs.get(`/runs/${id}/previews/${previewId}`)).toMatchObject({
      status: 'ended',
      end: 'service-ended',
    });
  });

  it('is refused beyond what a run may have, and where there is nothing to preview', async () => {
    const id = await aRunWithWorkspace();
    const detail = async (reply: ReturnType<typeof open>, status = 409): Promise<string> => {
      const { status: answered, body } = await reply;
      expect({ answered, body }).toMatchObject({ answered: status });
      return body.errors[0].detail;
    };
    expect(await detail(open(id, {}))).toMatch(/no active sandbox that serves port 8000/);
    expect(await detail(open(id, { command: serving(), sandbox: 'open' }))).toMatch(
      /open shares the network of its host, .*: choose closed or filtered\./,
    );
    expect(await detail(open(id, { command: serving(), sandbox: 'no' }))).toMatch(/There is no sandbox preset "no"/);
    expect(await detail(open(id, { command: serving(), directory: '../..' }))).toMatch(/is not in the workspace/);
    expect(await detail(open(id, { command: ['no-such-program'] }))).toMatch(/no-such-program was not found/);
    expect(await detail(open(id, { directory: 'a' }), 422)).toMatch(/^command: is required/);
    expect(await detail(open(id, { expires_in_secs: 86_401 }), 422)).toMatch(/^expires_in_secs: /);
    const none = await runs.start('digraph { start -> exit }');
    expect(await detail(open(none, { command: serving() }))).toMatch(/^Run has no active sandbox/);
    for (const port of [1, 2, 3]) {
      await opened(id, { port, command: ['sleep', '5505'] });
    }
    expect(await detail(open(id, { port: 4, command: ['sleep', '5505'] }))).toMatch(/3 previews of a run/);
    expect(
      (await service.call('GET', `/runs/${none}/previews/${(await runs.get(`/runs/${id}/previews`)).data[0].id}`))
        .status,
    ).toBe(404);
    const off = await startServiceUnderTest(file.settings);
    try {
      const dot_source = 'digraph { start -> exit }';
      const { body } = await off.call('POST', '/runs', { dot_source });
      expect(
        await off.call('POST', `/runs/${body.id}/preview`, { port: 1, expires_in_secs: 1, command: ['ls'] }),
      ).toMatchObject({
        ...{
          status: 409,
          body: { errors: [{ detail: 'Runs are not previewed here: WORKFLOW_RUNS_PREVIEW_PORT is not set.' }] },
        },
      });
    } finally {
      await off.close();
    }
  });
});

/** Waits until no process of this machine has the words in its command line. */
const untilGone = (words: string): Promise<void> =>
  eventually(async () => {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      expect(line.includes(words)).toBe(false);
    }
  });
