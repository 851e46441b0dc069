import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openToolServer } from '../../../providers/tool-servers/open-tool-server';
import type { ToolServerConnection } from '../../../providers/tool-servers/tool-server';
import { aToolServer, hostileProgram } from '../../support/factories/tool-server';
import { anEnvironment } from '../../support/tool-servers/environment';

const { signal } = new AbortController();
const secret = 'hush-hush-4711';
let opened: ToolServerConnection | undefined;

async function start(how: string, { file, ...fields }: { file?: string; startupTimeoutMs?: number } = {}) {
  const transport = { ...hostileProgram(how, ...(file === undefined ? [] : [file])), environmentKeys: ['TOOL_SECRET'] };
  opened = await openToolServer(
    aToolServer({ id: 'hostile', displayName: 'Hostile', transport, ...fields }),
    anEnvironment({ TOOL_SECRET: secret }),
  );
  return opened;
}
const list = async (how: string, fields: Parameters<typeof start>[1] = {}) =>
  (await start(how, fields)).listTools(signal);
const call = async (how: string, timeoutMs = 20_000) =>
  (await start(how)).callTool({ name: 'echo', arguments: {}, signal, timeoutMs });
const pidsIn = (file: string): number[] => readFileSync(file, 'utf8').trim().split('\n').map(Number);
const runs = (pid: number): boolean => existsSync(`/proc/${pid}`);

let directory: TempDir;
beforeEach(async () => {
  directory = await makeTempDir('tool-servers');
});

afterEach(async () => {
  await opened?.close();
  opened = undefined;
  await directory.remove();
});

describe('hostile tool servers', () => {
  it.each([
    ['many-tools', 'invalid-tools', 'more than 500 tools'],
    ['same-cursor', 'invalid-tools', 'does not end after 2 pages'],
    ['new-cursors', 'invalid-tools', 'does not end after 50 pages'],
    ['huge-schema', 'invalid-tools', 'more than 65536 bytes'],
    ['deep-schema', 'invalid-tools', 'nested more than 32 levels'],
    ['no-schema', 'invalid-tools', 'no JSON schema'],
    ['remote-schema', 'invalid-tools', 'no JSON schema'],
    ['same-names', 'invalid-tools', 'two tools with the name echo'],
    ['empty-name', 'protocol-error', 'tools.0.name'],
    ['no-list', 'protocol-error', 'tools'],
    ['closes-half-way', 'ended', 'before it responded to tools/list'],
  ])('refuses the tools of a server that has %s', async (how, code, message) => {
    await expect(list(how)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it.each([
    ['junk', 'output-limit', 'lines that are no messages'],
    ['endless-line', 'output-limit', 'bytes for one request'],
    ['notifications', 'output-limit', 'bytes for one request'],
    ['deep-message', 'protocol-error', 'nested more than 64 levels'],
    ['pollution', 'protocol-error', '__proto__'],
    ['half-open', 'ended', 'closed its output'],
  ])('ends a server that answers the handshake with %s', async (how, code, message) => {
    await expect(start(how)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('gives up a server that never answers, and one that never lists its tools', async () => {
    await expect(start('mute', { startupTimeoutMs: 300 })).rejects.toMatchObject({ code: 'start-timeout' });
    await expect(list('mute-list', { startupTimeoutMs: 1_500 })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('states why a server ended, without credentials', async () => {
    const failure: unknown = await start('dies-at-once').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'ended',
      message: expect.stringContaining('no licence for [REDACTED]') as string,
    });
    expect(JSON.stringify(failure)).not.toContain(secret);
  });

  it('refuses what a server asks for, and reads on', async () => {
    const connection = await start('asking');
    await expect(connection.listTools(signal)).resolves.toMatchObject({ tools: [{ name: 'echo' }] });
  });

  it('cuts long texts, and hides credentials in what is listed and returned', async () => {
    const { tools, truncated } = await list('long-texts');
    expect(truncated).toBe(true);
    expect(tools[0]?.title).toHaveLength(200);
    expect(tools[0]?.description).toMatch(/^d{4000}$/);
    await opened?.close();

    expect(JSON.stringify(await list('secrets'))).not.toContain(secret);
    const { content } = await opened!.callTool({ name: 'echo', arguments: {}, signal, timeoutMs: 20_000 });
    expect(content).toEqual([{ type: 'text', text: 'is [REDACTED]' }]);
  });

  it('bounds a result', async () => {
    const { content, truncated } = await call('big-result');
    expect(truncated).toBe(true);
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^x{100000,131072}$/) as string }]);
  });

  it.each([
    ['silent', 'timeout', 400],
    ['dies', 'ended', 20_000],
  ])('reports a call as sent when the server is %s', async (how, code, timeoutMs) => {
    await expect(call(how, timeoutMs)).rejects.toMatchObject({ code, isSent: true });
  });

  it('stops waiting for a call that is abandoned', async () => {
    const connection = await start('silent');
    const abandoning = new AbortController();
    const calling = connection.callTool({ name: 'echo', arguments: {}, signal: abandoning.signal, timeoutMs: 60_000 });
    abandoning.abort();
    await expect(calling).rejects.toMatchObject({ code: 'aborted' });
  });

  it('runs a server in an empty directory of its own, and removes it', async () => {
    const [part] = (await call('pid')).content as { text: string }[];
    const own = part?.text.split(' ')[1] ?? '';
    expect(dirname(dirname(own))).toBe(tmpdir());
    expect(readdirSync(own)).toEqual([]);
    await opened?.close();
    expect(existsSync(dirname(own))).toBe(false);
  });

  it('ends what a server started outside of its group, and a server that ignores signals', async () => {
    const file = join(directory.path, 'pids');
    await start('leaves-child', { file });
    const pids = pidsIn(file);
    expect(pids).toHaveLength(2);
    expect(pids.every(runs)).toBe(true);
    await opened?.close();
    await eventually(() => expect(pids.some(runs)).toBe(false));

    const stubborn = join(directory.path, 'pid');
    await expect(start('stubborn', { file: stubborn, startupTimeoutMs: 2_000 })).rejects.toMatchObject({
      code: 'start-timeout',
    });
    await eventually(() => expect(pidsIn(stubborn).some(runs)).toBe(false));
  });

  it('refuses a program that is not there', async () => {
    const transport = { kind: 'stdio', command: 'no-such-server-here' };
    await expect(openToolServer(aToolServer({ transport }), anEnvironment())).rejects.toMatchObject({
      code: 'program-missing',
    });
  });
});
