import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

let dir: TempDir;
describe('build check at start', () => {
  beforeEach(async () => {
    dir = await makeTempDir('built');
  });
  afterEach(() => dir.remove());

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
