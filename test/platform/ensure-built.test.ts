import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

let dir: TempDir;
describe('build check at start', () => {
  beforeEach(async () => {
    dir = await makeTempDir('built');
  });
  afterEach(() => dir.remove());

  test('says which step is under way and how long it took, and nothing when there is nothing to do', async () => {
    const root = join(__dirname, '..', '..');
    const write = async (path: string, text: string) => {
      await mkdir(dirname(join(dir.path, path)), { recursive: true });
      await writeFile(join(dir.path, path), text);
    };
    await write('main.ts', '');
    await write('scripts/ensure-built.mjs', '');
    await copyFile(join(root, 'scripts', 'ensure-built.mjs'), join(dir.path, 'scripts', 'ensure-built.mjs'));
    const bundle = `require('node:fs').mkdirSync('dist/scripts', { recursive: true });
      require('node:fs').writeFileSync('dist/scripts/bundle-workflows.js', '');`;
    await write('node_modules/typescript/bin/tsc', bundle);
    await symlink(join(root, 'node_modules', 'proper-lockfile'), join(dir.path, 'node_modules', 'proper-lockfile'));
    const build = () =>
      spawnSync(process.execPath, [join(dir.path, 'scripts', 'ensure-built.mjs')], { cwd: dir.path, encoding: 'utf8' });

    const lines = build().stderr.trim().split('\n');
    expect(lines).toEqual([
      'build: compiling (1 of 2) …',
      expect.stringMatching(/^build: compiling \(1 of 2\): \d+ s$/),
      'build: bundling workflows (2 of 2) …',
      expect.stringMatching(/^build: bundling workflows \(2 of 2\): \d+ s$/),
    ]);
    expect(build().stderr).toBe('');
  });

  test('what was compiled from a source that is gone is removed, and nothing else', async () => {
    const files = ['src/runs/contract/index.ts', 'src/main.ts'];
    const kept = ['out/runs/contract/index.js', 'out/main.js', 'out/main.js.map', 'out/workflow-bundle.js'];
    const gone = ['out/runs/contract.js', 'out/runs/contract.js.map', 'out/old/deep/file.js'];
    for (const file of [...files, ...kept, ...gone, 'out/plants-workflow-bundle.js']) {
      await mkdir(dirname(join(dir.path, file)), { recursive: true });
      await writeFile(join(dir.path, file), '');
    }
    const script = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'ensure-built.mjs')).href;
    const call = `import { removeOrphans } from '${script}'; removeOrphans('src', 'out');`;
    execFileSync(process.execPath, ['--input-type=module', '-e', call], { cwd: dir.path });
    const left = (paths: string[]) => paths.filter((path) => existsSync(join(dir.path, path)));
    expect(left([...kept, 'out/plants-workflow-bundle.js'])).toHaveLength(kept.length + 1);
    expect(left(gone)).toEqual([]);
  });
});
