import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKey, type ApiUnderTest, readKey, startWholeTestApi } from '../api/api-under-test';
import { runboard, type TerminalOptions } from './terminal';

let board: ApiUnderTest;
let home: string;
let environment: Record<string, string>;
beforeAll(async () => {
  board = await startWholeTestApi();
  home = await mkdtemp(join(tmpdir(), 'cli-'));
  environment = { XDG_CONFIG_HOME: home, RUNBOARD_URL: board.url, RUNBOARD_KEY: adminKey };
});
afterAll(async () => {
  await board.close();
  await rm(home, { recursive: true });
});

const run = (...args: string[]) => runboard(args, { environment });
const runWith = (options: TerminalOptions, ...args: string[]) => runboard(args, { environment, ...options });
const json = async <T>(...args: string[]): Promise<T> => {
  const { code, output, errors } = await run('--json', ...args);
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(output) as T;
};

describe('the command runboard', () => {
  it('creates, lists, shows, edits, moves and completes tasks', async () => {
    const created = await run('task', 'new', 'Mend the door', '--priority', 'high', '--project', 'house');
    expect(created).toMatchObject({ code: 0, errors: '' });
    const [id = ''] = created.output.split(' ');
    expect(await json<object>('task', 'show', id)).toMatchObject({ title: 'Mend the door', priority: 'high' });
    expect((await run('task', 'edit', id, '--title', 'Mend the window', '-d', '# Why\nIt is open.')).code).toBe(0);
    expect(await run('task', 'edit', id)).toMatchObject({
      code: 2,
      output: '',
      errors: expect.stringContaining('Name what'),
    });
    expect((await run('task', 'move', id, 'in-progress')).code).toBe(0);
    expect((await run('task', 'list', '--status', 'in-progress')).output).toContain(`${id}  in-progress  high`);
    expect((await run('task', 'list', '--project', 'garden')).output).toBe('ID  STATUS  PRIORITY  PROJECT  TITLE\n');
    expect((await run('task', 'show', id)).output).toContain('# Why\nIt is open.');
    expect((await run('task', 'done', id)).output).toContain('done  Mend the window');
  });

  it('shows what others wrote without what a terminal would obey', async () => {
    const task = await board.createTask({ title: 'Escape', description: 'a\u009b2J' });
    const { output } = await run('task', 'show', task.id);

    expect(output).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  });

  it('uses colours on terminals only, and not where they are unwanted', async () => {
    const { id } = await board.createTask({ title: 'Colours' });
    expect((await runWith({ isTTY: true }, 'task', 'show', id)).output).toContain('\u001b[1mColours');
    const plain = { environment: { ...environment, NO_COLOR: '1' }, isTTY: true };
    expect((await runWith(plain, 'task', 'show', id)).output).not.toContain('\u001b');
  });

  it('ends with the exit code of the failure, and a line of what to do', async () => {
    const readOnly = { environment: { ...environment, RUNBOARD_KEY: readKey } };
    const nowhere = { environment: { ...environment, RUNBOARD_URL: 'http://127.0.0.1:1' } };
    const wrongKey = { environment: { ...environment, RUNBOARD_KEY: 'wrong' } };
    const { id } = await board.createTask({ title: 'Blocked', status: 'todo' });
    expect(await run('task', 'show', 'task_20260101_absent')).toMatchObject({ code: 3, output: '' });
    expect(await runWith(readOnly, 'task', 'done', id)).toMatchObject({ code: 4 });
    expect((await runWith(wrongKey, 'task', 'list')).errors).toContain('Sign in with "runboard login"');
    const unreachable = await runWith(nowhere, 'task', 'list');
    expect([unreachable.code, unreachable.errors]).toEqual([6, expect.stringContaining('runboard start')]);
    expect(await run('task', 'move', id, 'somewhere')).toMatchObject({ code: 2 });
    expect(await run('nothing')).toMatchObject({ code: 2, errors: expect.stringContaining('unknown command') });
    expect((await run('task', 'edit', id, '--repo', '../..')).errors).toContain('git.repo');
    expect(await run('run', 'watch', id)).toMatchObject({ code: 2, errors: expect.stringContaining('run start') });
    const refused = await run('--json', 'task', 'show', 'task_20260101_absent');
    expect(JSON.parse(refused.errors)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await runWith({ signal: AbortSignal.abort() }, 'task', 'list')).toMatchObject({ code: 130 });
  });

  it('reports a wrong command line as JSON where errors are JSON', async () => {
    for (const [args, error] of [
      [['nothing'], "unknown command 'nothing'"],
      [['task', 'list', '--nothing'], "unknown option '--nothing'"],
      [['task', 'new'], "missing required argument 'title'"],
      [['task', 'move', 'x', 'nowhere'], 'It must be one of'],
      [['task'], 'A command is missing'],
      [[], 'A command is missing'],
    ] as const) {
      const { code, output, errors } = await run('--json', ...args);
      expect([code, output]).toEqual([2, '']);
      expect(JSON.parse(errors)).toEqual({ error: expect.stringContaining(error) });
    }
    expect(await run('--json', 'task', '--help')).toMatchObject({ code: 0, errors: '' });
  });

  it('names a key that no header can have by where it comes from, and never prints it', async () => {
    for (const key of ['secret\nkey', 'secret\u0001key', 'secret\u4e00key']) {
      const signedOut = { XDG_CONFIG_HOME: home };
      const ended = [
        await runWith({ environment: { ...environment, RUNBOARD_KEY: key } }, 'task', 'list'),
        await runWith({ environment: { ...environment, RUNBOARD_BITMAP_TOKEN: key } }, 'bitmap', 'indexes'),
        ...(key.includes('\n')
          ? []
          : [await runboard(['--url', board.url, 'login'], { environment: signedOut, input: `${key}\n` })]),
      ];
      for (const { code, output, errors } of ended) {
        expect([code, output, errors]).toEqual([2, '', expect.stringContaining(' is no key: ')]);
        expect(errors).not.toContain('secret');
      }
    }
    const padded = await runWith({ environment: { ...environment, RUNBOARD_KEY: `${adminKey}\r\n` } }, 'task', 'list');
    expect(padded.code).toBe(0);
  });

  it('reports an address that is no board', async () => {
    const page = createServer((_request, response) => response.end('<!doctype html>'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    try {
      const { code, errors } = await run('--url', url, 'task', 'list');
      expect([code, errors]).toEqual([6, expect.stringContaining(`${url} is no board`)]);
      expect(await run('bitmap', '--bitmap-url', url, 'indexes')).toMatchObject({
        code: 6,
        errors: expect.stringContaining(`${url} is no bitmap index`),
      });
    } finally {
      page.close();
    }
  });

  it.each([401, 404, 500, 502])('reports a %i that no board responds with', async (status) => {
    const other = createServer((_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"error":${status},"message":"no"}`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      const { code, errors } = await run('--url', url, 'task', 'list');
      expect([code, errors]).toEqual([6, expect.stringContaining(`${url} is no board, or a proxy before one`)]);
      expect(errors).toContain(String(status));
      expect(errors).not.toContain('Sign in');
    } finally {
      other.close();
    }
  });

  const fullDevice = '/dev/full';
  (existsSync(fullDevice) ? it : it.skip)(
    'fails when its output cannot be written, but not when its reader has ended',
    () => {
      const source = join(__dirname, '..', '..');
      const command = 'node -r ./test/support/register-ts.cjs cli/main.ts completion bash';
      const ended = (redirection: string) => {
        const { status, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${command} ${redirection}`], {
          cwd: source,
          encoding: 'utf8',
        });
        return [status, stderr];
      };
      expect(ended(`> ${fullDevice}`)).toEqual([
        1,
        expect.stringMatching(/^runboard: The output could not be written: .*ENOSPC/),
      ]);
      expect(ended('| true')).toEqual([0, '']);
    },
  );

  it('stores a key that the board accepts, and none that it refuses', async () => {
    const signedOut = { XDG_CONFIG_HOME: home };
    const login = (key: string) =>
      runboard(['--url', board.url, 'login'], { environment: signedOut, input: `${key}\n` });
    expect(await login('wrong')).toMatchObject({ code: 4 });
    expect(await login('')).toMatchObject({ code: 2 });
    expect((await login(adminKey)).output).not.toContain(adminKey);
    expect(await readFile(join(home, 'runboard', 'cli.json'), 'utf8')).toContain(adminKey);
    expect(await runboard(['task', 'list'], { environment: signedOut })).toMatchObject({ code: 0 });
    expect(await runboard(['logout'], { environment: signedOut })).toMatchObject({ code: 0 });
    const after = await runboard(['--url', board.url, 'task', 'list'], { environment: signedOut });
    expect(after.code).toBe(4);
  });

  it('responds to every request of a model whose client has closed the input', async () => {
    const task = await board.createTask({ title: 'Read by a model' });
    const request = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const clientInfo = { name: 'test', version: '1' };
    const lines = [
      request(1, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo }),
      ...[2, 3].map((id) => request(id, 'tools/call', { name: 'get_task', arguments: { taskId: task.id } })),
    ];
    const { code, output } = await runWith({ input: `${lines.join('\n')}\n` }, 'mcp');
    const responses = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number });
    expect([code, responses.map(({ id }) => id).sort()]).toEqual([0, [1, 2, 3]]);
    expect(output).toContain('Read by a model');
  });

  it('completes its commands in bash', async () => {
    const { output } = await run('completion', 'bash');
    const script = `${output}\nCOMP_WORDS=(runboard task sh); COMP_CWORD=2; _runboard; echo "\${COMPREPLY[@]}"`;
    expect(spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout).toBe('show\n');
    expect((await run('completion', 'tcsh')).code).toBe(2);
  });

  it('prints for zsh only what zsh takes: no offset without $, and no name that is special there', async () => {
    const { output } = await run('completion', 'zsh');
    expect(output).toContain('bashcompinit');
    expect(output).not.toMatch(/:\d+:[A-Z]|\b(?:path|status|argv|prompt)=/);
  });

  it('prints each command for fish', async () => {
    const { output } = await run('completion', 'fish');
    expect(output).toContain("complete -c runboard -f -n '__fish_use_subcommand' -a task\n");
    expect(output).toContain("complete -c runboard -f -n '__fish_seen_subcommand_from task' -a show\n");
  });

  it('finds what a first run lacks', async () => {
    const { code, output } = await run('doctor');
    expect([code, output]).toEqual([6, expect.stringContaining('failed  agents: none is configured')]);
    const unknown = await runWith({ environment: { RUNBOARD_URL: board.url } }, 'doctor');
    expect(unknown.output).toContain('The board does not know you.');
    expect(unknown.output).toMatch(/runboard login.*RUNBOARD_KEY/);
  });

  it('prints its version and its help', async () => {
    expect((await run('--version')).output).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await run('--help')).output).toContain('task');
  });
});
