import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');
const names = ['a', 'b', 'c', 'd'];

/** Notes when it begins, and in which process. */
const file = `require('node:fs').appendFileSync(process.env.BEGUN, __filename + ' ' + process.pid + '\\n');
test('takes its time', () => new Promise((resolve) => setTimeout(resolve, 1_000)));`;

/** Keeps the runner busy while a worker has its next file already. */
const reporter = `module.exports = class { onTestResult() {
  setImmediate(() => { for (const end = Date.now() + 500; Date.now() < end;); });
} };`;

describe('a worker of jest with too much memory', () => {
  let project: TempDir;
  beforeAll(async () => {
    project = await makeTempDir('worker-memory');
  });
  afterAll(() => project.remove());

  it('is replaced before its next file begins, not while it runs that', async () => {
    const config = {
      rootDir: project.path,
      testEnvironment: join(root, 'test/environment/environment.cjs'),
      cacheDirectory: join(project.path, 'cache'),
      reporters: [join(project.path, 'reporter.cjs')],
      transform: {},
      maxWorkers: 2,
      testEnvironmentOptions: { workerHeapMb: 1 },
    };
    await writeFile(join(project.path, 'jest.config.json'), JSON.stringify(config));
    await writeFile(join(project.path, 'reporter.cjs'), reporter);
    await Promise.all(names.map((name) => writeFile(join(project.path, `${name}.test.js`), file)));
    const begun = join(project.path, 'begun.txt');

    await promisify(execFile)(
      process.execPath,
      [join(root, 'node_modules/jest/bin/jest.js'), '--config', join(project.path, 'jest.config.json')],
      { cwd: project.path, env: { PATH: process.env.PATH, BEGUN: begun } },
    );

    const lines = (await readFile(begun, 'utf8')).trim().split('\n');
    const [files, processes] = [0, 1].map((at) => lines.map((line) => line.split(' ')[at]));
    expect([...files!].sort()).toEqual(names.map((name) => join(project.path, `${name}.test.js`)));
    expect(new Set(processes).size).toBe(names.length);
  });
});
