import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, openCacheFile, writeCacheFile } from '../../platform/processes/compile-cache/cache-file';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');
const compiled = join(root, 'dist', 'platform', 'processes', 'compile-cache');

describe('compile cache', () => {
  let dir: TempDir;
  beforeEach(async () => {
    dir = await makeTempDir('compile-cache');
  });
  afterEach(() => dir.remove());
  const write = (name: string, source: string) => writeFile(join(dir.path, name), source);

  /** Runs code that has the compiled loader and the file of the cache at hand; what it prints is parsed. */
  function run(code: string) {
    const prelude = `
      const { loadCompiled, recordLoaded } = require('${compiled}/load-compiled.js');
      const { openCacheFile, writeCacheFile } = require('${compiled}/cache-file.js');
      const root = process.cwd();
      const path = require('node:path').resolve('cache.bin');
      const load = (name) => require(require('node:path').resolve(name));
    `;
    const printed = execFileSync(process.execPath, ['-e', `${prelude}${code}`], { cwd: dir.path, encoding: 'utf8' });
    return JSON.parse(printed) as unknown;
  }

  const record = (name: string) =>
    run(`
      const recorder = recordLoaded();
      load('${name}');
      const modules = recorder.modules();
      writeCacheFile(path, root, { modules, resolved: recorder.resolved, installed: undefined });
      console.log(JSON.stringify([...modules.keys()].map((each) => require('node:path').basename(each)).sort()));
    `);

  const loadRecorded = (name: string, { isCurrent = true } = {}) =>
    run(`
      loadCompiled(openCacheFile(path, root), () => ${isCurrent});
      console.log(JSON.stringify(load('${name}')));
    `);

  test('a module that was recorded is what it is without: its names, its imports, its directory', async () => {
    await write('other.js', 'exports.answer = 42;');
    await write(
      'module.js',
      `exports.facts = [__filename, __dirname, require('./other').answer, require.resolve('./other'), this === exports,
        module.exports === exports, require.cache[__filename] === module, module.children.length];`,
    );
    expect(record('module.js')).toEqual(['module.js', 'other.js']);
    const facts = [join(dir.path, 'module.js'), dir.path, 42, join(dir.path, 'other.js'), true, true, true, 1];
    expect(loadRecorded('module.js')).toEqual({ facts });
  });

  test('a linked package that is loaded after the stat of a pipe resolves its dependencies', async () => {
    const real = join(dir.path, 'store', 'node_modules');
    await mkdir(join(dir.path, 'node_modules'));
    for (const [name, source] of [
      ['first', ''],
      ['package', "exports.answer = require('beside');"],
      ['beside', 'module.exports = 42;'],
    ] as const) {
      await mkdir(join(real, name), { recursive: true });
      await writeFile(join(real, name, 'index.js'), source);
    }
    for (const name of ['first', 'package']) {
      await symlink(join(real, name), join(dir.path, 'node_modules', name));
    }
    await write('module.js', "require('first'); require('node:fs').fstatSync(0); exports.found = require('package');");
    const code = `require('${compiled}/resolve-links.js').followLinksAlways();
      console.log(JSON.stringify(require('./module.js')));`;
    const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: dir.path, encoding: 'utf8', input: '' });
    expect(stdout.trim()).toBe('{"found":{"answer":42}}');
  });

  test('a source of the same length that was changed since runs as it is now', async () => {
    await write('module.js', 'exports.value = 1;');
    record('module.js');
    await write('module.js', 'exports.value = 2;');
    expect(loadRecorded('module.js')).toEqual({ value: 2 });
  });

  test('what another version of V8 made is compiled again', async () => {
    await write('module.js', 'exports.value = 1;');
    record('module.js');
    run(`
      const path_ = require('node:path').resolve('module.js');
      const source = require('node:fs').readFileSync(path_, 'utf8');
      const other = openCacheFile(path, root).dataOf(path_, source);
      other.writeUInt32LE(other.readUInt32LE(4) + 1, 4);
      const digest = require('node:crypto').createHash('sha256').update(source).digest('base64');
      writeCacheFile(path, root, { modules: new Map([[path_, { digest, data: other }]]), resolved: new Map() });
      console.log('null');
    `);
    expect(loadRecorded('module.js')).toEqual({ value: 1 });
  });

  test('a request leads to what it led to, unless that is gone or other packages are installed', async () => {
    await mkdir(join(dir.path, 'other'));
    await write('other/index.js', 'exports.from = "directory";');
    await write('module.js', `exports.from = require('./other').from;`);
    record('module.js');
    // No build leaves two files for one request: which of them it is shows whether it was looked for.
    await write('other.js', 'exports.from = "file";');
    expect(loadRecorded('module.js')).toEqual({ from: 'directory' });
    expect(loadRecorded('module.js', { isCurrent: false })).toEqual({ from: 'file' });
    await rm(join(dir.path, 'other'), { recursive: true });
    expect(loadRecorded('module.js')).toEqual({ from: 'file' });
  });

  test('dynamic imports and modules of the other kind are left to Node', async () => {
    await write('later.mjs', 'export const later = 1;');
    await write('module.js', `exports.imported = import('./later.mjs').then(({ later }) => later);`);
    record('module.js');
    const imported = run(`
      loadCompiled(openCacheFile(path, root), () => true);
      load('module.js').imported.then((later) => console.log(later));
    `);
    expect(imported).toBe(1);
  });

  test('of a damaged file nothing is taken', async () => {
    const path = join(dir.path, 'cache.bin');
    const module = join(dir.path, 'a.js');
    const data = Buffer.from('data');
    writeCacheFile(path, dir.path, {
      modules: new Map([[module, { digest: digestOf('source'), data }]]),
      resolved: new Map(),
      installed: 'digest',
    });
    const taken = () => openCacheFile(path, dir.path)?.dataOf(module, 'source');
    expect(taken()).toEqual(data);
    const whole = await readFile(path);
    for (const length of [0, 3, 10, 40, whole.length - 20, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      expect(taken()).toBeUndefined();
    }
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      await writeFile(path, changed);
      expect(taken()).toBeUndefined();
    }
    expect(await readdir(dir.path)).toEqual(['cache.bin']);
  });

  test('stack traces of the entries name sources', async () => {
    await write(
      'throw.js',
      `require('${join(compiled, 'install.js')}');\nrequire('${root}/dist/platform/config/env.js');`,
    );
    const failing = `
      require('${join(compiled, 'install.js')}');
      const { compact } = require('${root}/dist/platform/json/compact.js');
      try { compact(undefined); } catch (error) { console.log(error.stack); }
    `;
    const { stdout } = spawnSync(process.execPath, ['--enable-source-maps', '-e', failing], { encoding: 'utf8' });
    expect(stdout).toMatch(
      /^TypeError: .*\n(?: {4}at .*\n)? {4}at compact \(.*\/platform\/json\/compact\.ts:\d+:\d+\)/,
    );
    expect(stdout).not.toContain('compact.js');
  });
});
