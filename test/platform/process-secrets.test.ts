import { execFile, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { Caller, scriptAgent } from '../support/caller';
import { aRepository, git } from '../support/git/repository';
import { testSettings } from '../support/settings';

const root = join(__dirname, '..', '..');
const secret = (name: string) => `the-secret-value-of-${name}`;

/** Every secret there is, and one for an agent. */
const secrets = {
  BOARD_ADMIN_KEY: secret('the-administrator'),
  BOARD_API_KEYS: `ci:${secret('the-pipeline')}:agent`,
  BOARD_WEBHOOK_SECRET: secret('hooks'),
  BITMAP_TOKEN: secret('the-bitmap-index'),
  PLANTS_TOKENS: `anna:${secret('anna-the-gardener')}`,
  PLANTS_WEBHOOK_SECRET: secret('plant-hooks'),
  MODEL_KEY: secret('an-agent'),
};

let directory: TempDir;
let dataDir: string;
let service: ReturnType<typeof spawn>;
let printed = '';
let call: Caller;

const pidsOf = async (part: string): Promise<number[]> => {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const environ = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (commandLine.includes(part) && (environ.includes(directory.path) || commandLine.includes(directory.path))) {
      found.push(Number(name));
    }
  }
  return found;
};

describe('secrets of processes', () => {
  /** Starts everything as `npm start` does, from a shell with the widest umask, which has a file open. */
  beforeAll(async () => {
    directory = await makeTempDir('process-secrets');
    dataDir = join(directory.path, 'data');
    // As an earlier version left it.
    await mkdir(join(dataDir, 'tasks', 'active'), { recursive: true });
    await writeFile(join(dataDir, 'tasks', 'active', 'notes.txt'), 'mine');
    await chmod(join(dataDir, 'tasks', 'active', 'notes.txt'), 0o666);
    await chmod(dataDir, 0o777);
    const key = join(directory.path, 'admin-key');
    await writeFile(key, `${secrets.BOARD_ADMIN_KEY}\n`, { mode: 0o600 });
    const { BOARD_ADMIN_KEY: _inFile, ...inEnvironment } = secrets;
    // Node closes the first descriptors to programs that it starts, up to 15.
    const left = openSync(key, 'r');
    const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(37).fill('ignore'), left];
    service = spawn('/bin/sh', ['-c', 'umask 000; exec "$0" "$@"', process.execPath, 'dist/scripts/start.js'], {
      cwd: root,
      stdio,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: directory.path,
        ...testSettings,
        BOARD_AUTH_ENABLED: 'true',
        ...inEnvironment,
        BOARD_ADMIN_KEY_FILE: key,
        BOARD_DATA_DIR: dataDir,
        BOARD_PORT: '0',
        BITMAP_PORT: '0',
        PLANTS_PORT: '0',
        WORKFLOW_RUNS_PORT: '0',
        TEMPORAL_UI_PORT: '0',
        LOG_LEVEL: 'warn',
        SERVICES: 'all',
      },
    });
    closeSync(left);
    service.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const url = await eventually(() => {
      const [, found] = /API +(http:\S+)\/api\n/.exec(printed) ?? [];
      if (found === undefined) {
        throw new Error(`not started yet: ${printed}`);
      }
      return found;
    });
    call = new Caller(url, { 'x-api-key': secrets.BOARD_ADMIN_KEY });
  }, 120_000);

  afterAll(async () => {
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    await ended;
    await directory.remove();
  });

  test('the banner names what is up, and a command that reaches its Temporal', async () => {
    for (const row of ['OpenAPI', 'Worker', 'bitmap', 'plants', 'workflow-runs', 'Temporal', 'Temporal UI', 'Data']) {
      expect(printed).toMatch(new RegExp(`^    ${row} +\\S`, 'm'));
    }
    expect(printed).not.toMatch(/^ {4}Off /m);
    const [, command = ''] = /^ {4}Workflows +(.+)$/m.exec(printed) ?? [];
    expect(command).toMatch(/temporal\S* workflow list --address 127\.0\.0\.1:\d+ --namespace default$/);
    await expect(promisify(execFile)('/bin/sh', ['-c', command])).resolves.toMatchObject({ stderr: '' });
  });

  test('no part shows a secret to other processes of its user or inherits a file, and each works with what it was handed', async () => {
    const parts = ['api/main.js', 'worker/main.js', 'bitmap/main.js', 'plants/main.js', 'workflow-runs/main.js'];
    for (const part of [...parts, 'start-dev']) {
      const pids = await pidsOf(part);
      expect([part, pids.length]).toEqual([part, 1]);
      for (const file of ['environ', 'cmdline']) {
        const text = await readFile(`/proc/${pids[0]}/${file}`, 'utf8');
        expect([part, file, text.match(/the-secret-value-of-[a-z-]*/g)]).toEqual([part, file, null]);
      }
      const open = await readdir(`/proc/${pids[0]}/fd`);
      const files = await Promise.all(open.map((fd) => readlink(`/proc/${pids[0]}/fd/${fd}`).catch(() => '')));
      expect([part, files.filter((path) => path.endsWith('/admin-key'))]).toEqual([part, []]);
    }
    await call.ok('GET', '/api/tasks');
  });

  test('an agent is given its own key, no other key at it, and no file that is open elsewhere', async () => {
    const agent = join(directory.path, 'reader.mjs');
    await writeFile(
      agent,
      `import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
const read = (file) => { try { return readFileSync(file, 'utf8'); } catch { return ''; } };
const parts = readdirSync('/proc').filter((pid) => /(api|worker|plants|bitmap|workflow-runs)\\/main\\.js/.test(read('/proc/' + pid + '/cmdline')) && read('/proc/' + pid + '/environ').includes(${JSON.stringify(directory.path)}));
const found = parts.flatMap((pid) => read('/proc/' + pid + '/environ').match(/the-secret-value-of-[a-z-]*/g) ?? []);
const link = (fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } };
const open = readdirSync('/proc/self/fd').map(link).filter((path) => path.startsWith(${JSON.stringify(directory.path)}));
writeFileSync(${JSON.stringify(join(directory.path, 'found.json'))}, JSON.stringify({ parts: parts.length, found, open, own: process.env.MODEL_KEY?.length }));
console.log(JSON.stringify({ type: 'result', status: 'success', summary: 'looked' }));
`,
    );
    const repository = await aRepository(directory.path, 'sample');
    await call.addRepository('sample', repository);
    await call.configureAgents([
      { ...scriptAgent('worker-bee'), type: 'reader', command: 'node', args: [agent], environmentKeys: ['MODEL_KEY'] },
    ]);
    const { id } = await call.createTask({ title: 'Look around', git: { repo: 'sample' } });
    await call.start(id);
    await call.ended(id);
    expect(JSON.parse(await readFile(join(directory.path, 'found.json'), 'utf8'))).toEqual({
      parts: 5,
      found: [],
      open: [],
      own: secrets.MODEL_KEY.length,
    });
  });

  test('everything in the data directory is its user’s alone, whatever the umask', async () => {
    const open: string[] = [];
    const seen: string[] = [];
    const walk = async (path: string): Promise<void> => {
      const status = await lstat(path);
      if (status.isSymbolicLink()) {
        return;
      }
      seen.push(path);
      if ((status.mode & 0o077) !== 0) {
        open.push(`${path} ${(status.mode & 0o777).toString(8)}`);
      }
      // What agents work on is behind directories that are closed; the modes of their files are the agents'.
      if (status.isDirectory() && !path.endsWith('/worktrees')) {
        for (const name of await readdir(path)) {
          await walk(join(path, name));
        }
      }
    };
    await walk(dataDir);
    expect(open).toEqual([]);
    const kinds = [
      'temporal.db',
      'temporal.db-wal',
      'temporal.json',
      'supervisor.json',
      'notes.txt',
      '.md',
      '/worktrees',
    ];
    for (const kind of kinds) {
      expect(seen.filter((path) => path.endsWith(kind))).not.toEqual([]);
    }
  });

  test('what is added to a repository has the modes that its owner chose', async () => {
    const repository = join(directory.path, 'sample');
    const commit = (await git(repository, 'for-each-ref', '--format=%(objectname)', 'refs/heads/board')).split(
      '\n',
    )[0]!;
    const { mode } = await lstat(join(repository, '.git', 'objects', commit.slice(0, 2), commit.slice(2)));
    const own = join(directory.path, 'own');
    await writeFile(own, '', { mode: 0o444 });
    expect(mode & 0o444).toBe((await lstat(own)).mode & 0o444);
  });

  test('a worker reports which secrets it has no use for', async () => {
    const worker = spawn(process.execPath, ['dist/worker/main.js'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        ...secrets,
        BOARD_DATA_DIR: join(directory.path, 'other'),
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      },
    });
    let printed = '';
    worker.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await eventually(() => {
      for (const name of [
        'BOARD_ADMIN_KEY',
        'BOARD_API_KEYS',
        'BITMAP_TOKEN',
        'PLANTS_TOKENS',
        'PLANTS_WEBHOOK_SECRET',
      ]) {
        expect(printed).toContain(`${name} is not used by the worker: remove it`);
      }
    });
    expect(printed).not.toMatch(/the-secret-value|BOARD_WEBHOOK_SECRET/);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  });
});
