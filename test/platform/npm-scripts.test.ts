import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');

/** A service that writes down its process id, and that it was asked to end. */
const service = `
const { appendFileSync } = require('node:fs');
const alive = setInterval(() => undefined, 1_000);
process.once('SIGTERM', () => { appendFileSync('noted', 'ended'); clearInterval(alive); });
appendFileSync('noted', process.pid + ' ');
`;

/** What each command of package.json runs in the end. */
const services = {
  start: 'dist/scripts/start.js',
  dev: 'scripts/dev.mjs',
  'start:api': 'dist/api/main.js',
  'start:worker': 'dist/worker/main.js',
  demo: 'dist/scripts/demo/main.js',
};

let project: TempDir;
/** The service, until it has ended. */
let running: number | undefined;
const write = async (path: string, text: string) => {
  await mkdir(dirname(join(project.path, path)), { recursive: true });
  await writeFile(join(project.path, path), text);
};
const noted = () => readFile(join(project.path, 'noted'), 'utf8').catch(() => '');

beforeEach(async () => {
  project = await makeTempDir('npm-scripts');
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await write('package.json', JSON.stringify({ name: 'stand-in', scripts }));
  await write('scripts/ensure-built.mjs', '');
});
afterEach(async () => {
  if (running !== undefined) {
    process.kill(running, 'SIGKILL');
  }
  running = undefined;
  await project.remove();
});

describe('npm run', () => {
  it.each(Object.entries(services))('%s ends its service when npm is asked to end', async (script, path) => {
    const required = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
    await write(path, path.endsWith('.mjs') ? required + service : service);
    const npm = spawn('npm', ['run', '--silent', script], { cwd: project.path, stdio: 'ignore' });
    const exited = once(npm, 'exit');
    await eventually(async () => expect(await noted()).toMatch(/^\d+ $/));
    const pid = (running = Number(await noted()));

    npm.kill('SIGTERM');
    await exited;
    await eventually(async () => expect(await noted()).toBe(`${pid} ended`));
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
    running = undefined;
  });
});
