import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');

/** A service that writes down when it starts and when it is asked to end. */
const program = (name: string): string => `
import { appendFileSync } from 'node:fs';
const note = (what: string) => appendFileSync('noted', \`${name} \${what}\\n\`);
note('started');
process.once('SIGTERM', () => { note('ended'); clearInterval(alive); });
const alive = setInterval(() => undefined, 1_000);
`;

let project: TempDir;
let dev: ChildProcess | undefined;
const write = (path: string, text: string) => writeFile(join(project.path, path), text);
const noted = () => readFile(join(project.path, 'noted'), 'utf8').catch(() => '');

/** A project as small as possible with the scripts of this one. */
beforeAll(async () => {
  project = await makeTempDir('dev');
  await mkdir(join(project.path, 'scripts'));
  for (const name of ['dev.mjs', 'ensure-built.mjs', 'compile.mjs']) {
    await cp(join(root, 'scripts', name), join(project.path, 'scripts', name));
  }
  await symlink(join(root, 'node_modules'), join(project.path, 'node_modules'));
  const output = { module: 'node20', target: 'ES2023', rootDir: '.', outDir: 'dist' };
  const compilerOptions = { ...output, types: ['node'], skipLibCheck: true };
  await write('tsconfig.build.json', JSON.stringify({ compilerOptions, include: ['scripts/*.ts'] }));
  await write('package.json', '{}');
  await write('scripts/bundle-workflows.ts', 'export {};');
  await write('scripts/record-compile-cache.ts', 'export {};');
  await write('scripts/start.ts', program('first'));
});
afterAll(async () => {
  if (dev?.exitCode === null && dev.signalCode === null) {
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  }
  await project.remove();
});

describe('npm run dev', () => {
  it('restarts the service in order after a build, leaves it running after a mistake, and ends with it', async () => {
    const child = spawn(process.execPath, ['scripts/dev.mjs'], {
      cwd: project.path,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    dev = child;
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
    }
    await eventually(async () => expect(await noted()).toBe('first started\n'), { withinMs: 60_000 });

    await write('scripts/start.ts', 'const wrong: number = "text";');
    await eventually(() => expect(printed).toContain('the sources do not compile'), { withinMs: 60_000 });
    expect(await noted()).toBe('first started\n');

    await write('scripts/start.ts', program('second'));
    const restarted = 'first started\nfirst ended\nsecond started\n';
    await eventually(async () => expect(await noted()).toBe(restarted), { withinMs: 60_000 });

    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(await noted()).toBe(`${restarted}second ended\n`);
    expect(child.exitCode).toBe(0);
  });
});
