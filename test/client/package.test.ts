import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import manifest from '../../clients/typescript/package.json';
import board from '../../package.json';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { adminKey, type ApiUnderTest, startTestApi } from '../api/api-under-test';

const root = join(__dirname, '..', '..');
const source = join(root, 'clients', 'typescript');

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** A program that uses the package. */
const consumer = `
import { BoardError, type components, createBoardClient, feedMessages, pages, unwrap } from 'runboard-client';
import WebSocket from 'ws';

const [direct = '', lossy = '', key = ''] = process.argv.slice(2);
const board = createBoardClient({ url: direct, key });

const one: components['schemas']['Task'] = await unwrap(
  createBoardClient({ url: lossy, key }).POST('/api/tasks', { body: { title: 'Mend the door' } }),
);
// @ts-expect-error a task has a title
const untitled = await board.POST('/api/tasks', { body: {} });
for (const title of ['two', 'three']) {
  await unwrap(board.POST('/api/tasks', { body: { title } }));
}

const sizes: number[] = [];
const titles: string[] = [];
const read = (cursor: string | undefined) =>
  board.GET('/api/tasks', { params: { query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } } });
for await (const { tasks } of pages(read)) {
  sizes.push(tasks.length);
  titles.push(...tasks.map(({ title }) => title));
}

const seen: string[] = [];
const connect = (url: string) => new WebSocket(url);
for await (const message of feedMessages({ url: direct, key, connect }, () => [{ type: 'subscribe:tasks' }])) {
  if (seen.length === 0 && message.type !== 'task:updated') {
    seen.push(message.type);
    await unwrap(board.PATCH('/api/tasks/{taskId}', { params: { path: { taskId: one.id } }, body: { title: 'Mended' } }));
  }
  if (message.type === 'task:updated' && message.task.title === 'Mended') {
    seen.push(message.task.title);
    break;
  }
}

const refused: unknown = await unwrap(
  board.GET('/api/tasks/{taskId}', { params: { path: { taskId: 'task_20260101_absent' } } }),
).catch((error: unknown) => error);
console.log(
  JSON.stringify({
    ...{ sizes, titles: titles.toSorted(), watched: seen.at(-1), untitled: untitled.response.status },
    refused: refused instanceof BoardError ? [refused.status, refused.code] : String(refused),
  }),
);
`;

const settings = {
  compilerOptions: {
    ...{ target: 'es2023', module: 'nodenext', strict: true, noEmitOnError: true, skipLibCheck: false },
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] },
  },
  files: ['main.mts'],
};

/** Forwards to the board; the response to the first change is lost, though the board has made it. */
function losingProxy(target: string, keys: unknown[]): Server {
  return createServer((request: IncomingMessage, response) => {
    void (async () => {
      keys.push(request.headers['idempotency-key']);
      const forwarded = await fetch(`${target}${request.url ?? ''}`, {
        method: 'POST',
        headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
          typeof value === 'string' && !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name)
            ? [[name, value]]
            : [],
        ),
        body: await text(request),
      });
      const body = await forwarded.text();
      if (keys.length === 1) {
        request.socket.destroy();
        return;
      }
      response.writeHead(forwarded.status, { 'Content-Type': 'application/json' }).end(body);
    })();
  });
}

describe('the package of the client', () => {
  let folder: TempDir;
  let packed: Packed;
  let api: ApiUnderTest;
  beforeAll(async () => {
    [folder, api] = await Promise.all([makeTempDir('client'), startTestApi()]);
    const args = ['pack', '--json', '--pack-destination', folder.path];
    const output = execFileSync('npm', args, { cwd: source, encoding: 'utf8', stdio: 'pipe' });
    [packed] = JSON.parse(output.slice(output.indexOf('['))) as [Packed];
    const modules = join(folder.path, 'node_modules');
    const installed = join(modules, manifest.name);
    mkdirSync(installed, { recursive: true });
    const unpack = ['--extract', '--gzip', '--strip-components=1', '--directory', installed];
    execFileSync('tar', [...unpack, '--file', join(folder.path, packed.filename)]);
    // What npm would lay out beside it: its dependencies, with theirs, and those of the program.
    const beside = [
      ...Object.keys(manifest.dependencies),
      'openapi-typescript-helpers',
      'ws',
      '@types/ws',
      '@types/node',
    ];
    for (const name of [...beside, 'undici-types']) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
  });
  afterAll(async () => {
    await api.close();
    await folder.remove();
  });

  it('has the compiled client with its types, the document, the licence, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path).sort();
    const modules = ['client', 'diff', 'feed', 'index', 'pages', 'types', 'wait'];
    const compiled = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
    expect(paths).toEqual(['LICENSE', 'README.md', ...compiled, 'openapi.json', 'package.json'].sort());
    expect(manifest.version).toBe(board.version);
  });

  it('compiles in a strict program, which lists, pages, watches and repeats against a board', async () => {
    await writeFile(join(folder.path, 'main.mts'), consumer);
    await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = spawn(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], {
      cwd: folder.path,
    });
    const [problems, [code]] = await Promise.all([text(compiler.stdout), once(compiler, 'close')]);
    expect([problems, code]).toEqual(['', 0]);

    const keys: unknown[] = [];
    const proxy = losingProxy(api.url, keys);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const lossy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const program = spawn(process.execPath, ['main.mjs', api.url, lossy, adminKey], { cwd: folder.path });
      const [output, errors] = await Promise.all([text(program.stdout), text(program.stderr)]);
      expect(errors).toBe('');
      expect(JSON.parse(output)).toEqual({
        sizes: [2, 1],
        titles: ['Mend the door', 'three', 'two'],
        watched: 'Mended',
        untitled: 400,
        refused: [404, 'NOT_FOUND'],
      });
      expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), keys[0]]);
    } finally {
      await new Promise((resolve) => proxy.close(resolve));
    }
  });

  it('is found by require as well', () => {
    const script =
      'console.log(typeof require("runboard-client").followRun, require("runboard-client/openapi.json").openapi)';
    const output = execFileSync(process.execPath, ['-e', script], { cwd: folder.path, encoding: 'utf8' });
    expect(output).toBe('function 3.1.0\n');
  });
});
