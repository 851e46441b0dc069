import { execFileSync, spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCacheFile, writeCacheFile } from '../../platform/processes/compile-cache/cache-file';
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
      const { loadCompiled } = require('${compiled}/load-compiled.js');
      const { moduleName } = require('${compiled}/location.js');
      const { sourceDigest, readCacheFile, writeCacheFile } = require('${compiled}/cache-file.js');
      const path = require('node:path').resolve('cache.bin');
      const load = (name) => require(require('node:path').resolve(name));
    `;
    const printed = execFileSync(process.execPath, ['-e', `${prelude}${code}`], { cwd: dir.path, encoding: 'utf8' });
    return JSON.parse(printed) as unknown;
  }

  const record = (name: string) =>
    run(`
      const recorded = [];
      const restore = loadCompiled(new Map(), (filename, source, script) => recorded.push({ filename, source, script }));
      load('${name}');
      restore();
      const modules = recorded.map(({ filename, source, script }) =>
        [moduleName(filename), { digest: sourceDigest(source), data: script.createCachedData() }]);
      writeCacheFile(path, new Map(modules));
      console.log(JSON.stringify(recorded.map(({ filename }) => require('node:path').basename(filename))));
    `);

  const loadRecorded = (name: string) =>
    run(`
      const vm = require('node:vm');
      loadCompiled(readCacheFile(path));
      console.log(JSON.stringify(load('${name}')));
    `);

  test('a module that was recorded is what it is without: its names, its imports, its directory', async () => {
    await write('other.js', 'exports.answer = 42;');
    await write(
      'module.js',
      `exports.facts = [__filename, __dirname, require('./other.js').answer, typeof require.resolve, this === exports, module.exports === exports];`,
    );
    expect(record('module.js')).toEqual(['module.js', 'other.js']);
    const facts = [join(dir.path, 'module.js'), dir.path, 42, 'function', true, true];
    expect(loadRecorded('module.js')).toEqual({ facts });
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
      const modules = [...readCacheFile(path)].map(([name, { digest, data }]) => {
        const other = Buffer.from(data);
        other.writeUInt32LE(other.readUInt32LE(4) + 1, 4);
        return [name, { digest, data: other }];
      });
      writeCacheFile(path, new Map(modules));
      console.log('null');
    `);
    expect(loadRecorded('module.js')).toEqual({ value: 1 });
  });

  test('dynamic imports and modules of the other kind are left to Node', async () => {
    await write('later.mjs', 'export const later = 1;');
    await write('module.js', `exports.imported = import('./later.mjs').then(({ later }) => later);`);
    record('module.js');
    const imported = run(`
      loadCompiled(readCacheFile(path));
      load('module.js').imported.then((later) => console.log(later));
    `);
    expect(imported).toBe(1);
  });

  test('a damaged file is none', async () => {
    const path = join(dir.path, 'cache.bin');
    const modules = new Map([['a.js', { digest: 'd', data: Buffer.from('data') }]]);
    writeCacheFile(path, modules);
    expect(readCacheFile(path)).toEqual(modules);
    const whole = await readFile(path);
    for (const length of [0, 3, 10, 40, whole.length - 20, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      expect(readCacheFile(path).size).toBe(0);
    }
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      await writeFile(path, changed);
      expect(readCacheFile(path).size).toBe(0);
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
