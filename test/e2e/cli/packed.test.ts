import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..', '..');

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}

/** Packs the package as it would be published, into a folder. */
function pack(folder: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as [Packed];
  return packed;
}

/**
 * Installs the packed package in an empty folder, as npm lays it out: what it depends on, and nothing else, is beside it. The
 * dependencies are those that are installed here, so that no registry is asked.
 */
function install(folder: string, { filename }: Packed): void {
  const modules = join(folder, 'node_modules');
  const installed = join(modules, manifest.name);
  mkdirSync(installed, { recursive: true });
  const tarball = join(folder, filename);
  execFileSync('tar', ['--extract', '--gzip', '--file', tarball, '--strip-components=1', '--directory', installed]);
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '.bin'));
  symlinkSync(join('..', manifest.name, manifest.bin.runboard), join(modules, '.bin', 'runboard'));
  chmodSync(join(installed, manifest.bin.runboard), 0o755);
}

describe('npx runboard from the packed package', () => {
  let folder: TempDir;
  let packed: Packed;
  let started: ChildProcess | undefined;
  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
    XDG_CONFIG_HOME: folder.path,
    BOARD_DATA_DIR: join(folder.path, 'data'),
    BOARD_PORT: '0',
    BOARD_AUTH_ENABLED: 'false',
    LOG_LEVEL: 'fatal',
  });
  beforeAll(async () => {
    folder = await makeTempDir('packed');
    packed = pack(folder.path);
    install(folder.path, packed);
  });
  afterAll(async () => {
    if (started?.exitCode === null && started.signalCode === null) {
      started.kill('SIGKILL');
    }
    await folder.remove();
  });

  /** Runs the command as `npx` finds it in the folder; a status that is none is an error. */
  const npx = (...args: string[]) => {
    const options = { cwd: folder.path, encoding: 'utf8' as const, env: environment(), stdio: 'pipe' as const };
    try {
      return { code: 0, output: execFileSync('npx', ['--no-install', 'runboard', ...args], options) };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { code: status, output: `${stdout}${stderr}` };
    }
  };

  it('has the compiled service, the page, an example, the licence, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const allowed = [
      /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
      /^dist\/package\.json$/,
      /^dist\/page\//,
      /^dist\/[\w-]*workflow-bundle\.js(?:\.sha256)?$/,
      /^dist\/(?:activities|api|cli|clients|contracts|domain|mcp|platform|providers|scripts|services|stores|worker|workflows)\/.*\.js$/,
      /^examples\/agent\/[\w.-]+$/,
    ];
    expect(paths.filter((path) => !allowed.some((pattern) => pattern.test(path)))).toEqual([]);
    const programs = ['api/main.js', 'worker/main.js', 'scripts/start.js', 'scripts/demo/main.js', 'cli/main.js'];
    const needed = [
      ...programs.map((name) => `dist/${name}`),
      'dist/page/index.html',
      'dist/workflow-bundle.js',
      'dist/pinned-workflow-bundle.js',
      'LICENSE',
    ];
    expect(needed.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('has no test, no source map, no settings and no secret', () => {
    const unwanted = /(?:\.test\.|\.map$|(?:^|\/)\.|secrets?\/|\.pem$|\.key$|\.env|node_modules|fixtures)/;
    expect(packed.files.filter(({ path }) => unwanted.test(path))).toEqual([]);
  });

  it('is named after its version, starts by its own command, and stays small', () => {
    expect(packed.filename).toBe(`${manifest.name}-${manifest.version}.tgz`);
    expect(packed.files.map(({ path }) => path)).toContain(manifest.bin.runboard);
    expect(packed.size).toBeLessThan(8_000_000);
  });

  it('prints its version, and examines a board that does not run', () => {
    expect(npx('--version')).toEqual({ code: 0, output: `${manifest.version}\n` });
    const examined = npx('doctor', '--url', 'http://127.0.0.1:1');
    expect(examined.code).toBeGreaterThan(0);
    expect(examined.output).toContain('http://127.0.0.1:1');
  });

  it('starts a board that serves the API and the page, passes its examination, and stops in order', async () => {
    const bin = join(folder.path, 'node_modules', '.bin', 'runboard');
    const child = spawn(bin, ['start'], { cwd: folder.path, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    started = child;
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    }
    const url = await eventually(() => {
      const [, address] = /^\s+API\s+(http:\S+)\/api$/m.exec(printed) ?? [];
      if (address === undefined) {
        throw new Error(`No address yet (exit ${String(child.exitCode)}): ${printed.slice(-2_000)}`);
      }
      return address;
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const { output } = npx('doctor', '--url', url);
    expect(output).toContain(`board: answers at ${url}`);
    expect(output).toMatch(/hosts: (?!no live worker)/);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
