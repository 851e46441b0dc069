import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');

let dir: TempDir;
describe('build check at start', () => {
  beforeEach(async () => {
    dir = await makeTempDir('built');
  });
  afterEach(() => dir.remove());

  test('prints which step is under way and how long it took, and nothing when there is nothing to do', async () => {
    await mkdir(join(dir.path, 'scripts'));
    for (const name of ['ensure-built.mjs', 'compile.mjs']) {
      await copyFile(join(root, 'scripts', name), join(dir.path, 'scripts', name));
    }
    await writeFile(join(dir.path, 'package.json'), '{}');
    await writeFile(join(dir.path, 'scripts', 'bundle-workflows.ts'), '');
    await writeFile(join(dir.path, 'scripts', 'record-compile-cache.ts'), '');
    await symlink(join(root, 'node_modules'), join(dir.path, 'node_modules'));
    const build = () =>
      spawnSync(process.execPath, [join(dir.path, 'scripts', 'ensure-built.mjs')], { cwd: dir.path, encoding: 'utf8' });

    const lines = build().stderr.trim().split('\n');
    expect(lines).toEqual([
      'build: compiling (1 of 3) …',
      expect.stringMatching(/^build: compiling \(1 of 3\): \d+ s$/),
      'build: bundling workflows (2 of 3) …',
      expect.stringMatching(/^build: bundling workflows \(2 of 3\): \d+ s$/),
      'build: recording compiled code (3 of 3) …',
      expect.stringMatching(/^build: recording compiled code \(3 of 3\): \d+ s$/),
    ]);
    expect(build().stderr).toBe('');
    await appendFile(join(dir.path, 'scripts', 'compile.mjs'), '// changed\n');
    expect(build().stderr).toContain('build: compiling');
  });

  test('a build stands although its compiled code could not be recorded', async () => {
    await mkdir(join(dir.path, 'scripts'));
    for (const name of ['ensure-built.mjs', 'compile.mjs']) {
      await copyFile(join(root, 'scripts', name), join(dir.path, 'scripts', name));
    }
    await writeFile(join(dir.path, 'package.json'), '{}');
    await writeFile(join(dir.path, 'scripts', 'bundle-workflows.ts'), '');
    await writeFile(join(dir.path, 'scripts', 'record-compile-cache.ts'), 'process.exit(1);');
    await symlink(join(root, 'node_modules'), join(dir.path, 'node_modules'));
    const { status, stderr } = spawnSync(process.execPath, [join(dir.path, 'scripts', 'ensure-built.mjs')], {
      cwd: dir.path,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('is not recorded') });
    expect(existsSync(join(dir.path, 'dist', '.built'))).toBe(true);
  });

  test('records compiled code again for a source that was added, and not for one that was changed', async () => {
    await mkdir(join(dir.path, 'scripts'));
    for (const name of ['ensure-built.mjs', 'compile.mjs']) {
      await copyFile(join(root, 'scripts', name), join(dir.path, 'scripts', name));
    }
    await writeFile(join(dir.path, 'package.json'), '{}');
    await writeFile(join(dir.path, 'scripts', 'bundle-workflows.ts'), '');
    const recording = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      mkdirSync('dist/.compile-cache', { recursive: true });
      writeFileSync(\`dist/.compile-cache/\${process.version}-any.bin\`, '');`;
    await writeFile(join(dir.path, 'scripts', 'record-compile-cache.ts'), recording);
    await symlink(join(root, 'node_modules'), join(dir.path, 'node_modules'));
    const build = () =>
      spawnSync(process.execPath, [join(dir.path, 'scripts', 'ensure-built.mjs')], { cwd: dir.path, encoding: 'utf8' });
    expect(build().stderr).toContain('recording');
    await appendFile(join(dir.path, 'scripts', 'bundle-workflows.ts'), '// changed\n');
    expect(build().stderr).not.toContain('recording');
    await writeFile(join(dir.path, 'added.ts'), '');
    expect(build().stderr).toContain('recording');
  });

  test('what was compiled from a source that is gone is removed, and nothing else', async () => {
    const files = ['src/runs/contract/index.ts', 'src/main.ts'];
    const kept = ['out/runs/contract/index.js', 'out/main.js', 'out/main.js.map', 'out/workflow-bundle.js'];
    const gone = ['out/runs/contract.js', 'out/runs/contract.js.map', 'out/old/deep/file.js'];
    for (const file of [...files, ...kept, ...gone, 'out/plants-workflow-bundle.js']) {
      await mkdir(dirname(join(dir.path, file)), { recursive: true });
      await writeFile(join(dir.path, file), '');
    }
    const script = pathToFileURL(join(root, 'scripts', 'ensure-built.mjs')).href;
    const call = `import { removeOrphans } from '${script}'; removeOrphans('src', 'out');`;
    execFileSync(process.execPath, ['--input-type=module', '-e', call], { cwd: dir.path });
    const left = (paths: string[]) => paths.filter((path) => existsSync(join(dir.path, path)));
    expect(left([...kept, 'out/plants-workflow-bundle.js'])).toHaveLength(kept.length + 1);
    expect(left(gone)).toEqual([]);
  });

  describe('compiler', () => {
    const script = pathToFileURL(join(root, 'scripts', 'compile.mjs')).href;
    const compile = (...paths: string[]) => {
      const call = `import { compile } from '${script}'; await compile('.', 'out', ${JSON.stringify(paths)});`;
      return spawnSync(process.execPath, ['--input-type=module', '-e', call], { cwd: dir.path, encoding: 'utf8' });
    };
    const load = (module: string) =>
      execFileSync(process.execPath, ['-p', module], { cwd: dir.path, encoding: 'utf8' });

    it('compiles a changed source and leaves the output of the others', async () => {
      await writeFile(join(dir.path, 'first.ts'), 'export const first: number = 1;');
      await writeFile(join(dir.path, 'second.ts'), "export const load = () => import('node:os');");
      compile('first.ts', 'second.ts');
      expect(load("require('./out/first.js').first")).toBe('1\n');
      // Whether it is compiled again is seen by its text, however coarse the clock.
      await appendFile(join(dir.path, 'out/second.js'), '// stays');
      await writeFile(join(dir.path, 'first.ts'), 'export const first: number = 2;');
      compile('first.ts', 'second.ts');
      expect(load("require('./out/first.js').first")).toBe('2\n');
      const second = await readFile(join(dir.path, 'out/second.js'), 'utf8');
      expect(second).toContain('// stays');
      expect(second).toContain("import('node:os')");
    });

    it('names the file of a syntax error and writes no output for it', async () => {
      await writeFile(join(dir.path, 'wrong.ts'), 'const = 1;');
      const { status, stderr } = compile('wrong.ts');
      expect(status).not.toBe(0);
      expect(stderr).toContain('wrong.ts');
      expect(existsSync(join(dir.path, 'out/wrong.js'))).toBe(false);
    });
  });
});
