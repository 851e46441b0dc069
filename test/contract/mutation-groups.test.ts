import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');

type Groups = Record<string, { sources: string[]; tests: string[] }>;
const groups = Object.values(
  JSON.parse(readFileSync(join(root, 'scripts', 'mutation', 'groups.json'), 'utf8')) as Groups,
);

describe('mutation groups', () => {
  it('names files that exist', () => {
    const files = groups.flatMap(({ sources, tests }) => [...sources, ...tests]);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has no source in two groups', () => {
    const sources = groups.flatMap((group) => group.sources);
    expect(sources.filter((source, at) => sources.indexOf(source) !== at)).toEqual([]);
  });

  it('has sources and tests in every group', () => {
    expect(groups.filter(({ sources, tests }) => sources.length === 0 || tests.length === 0)).toEqual([]);
  });
});

describe('the directories of mutation runs', () => {
  it('are removed when their process is gone, and no others', async () => {
    const cacheDir = await makeTempDir('mutation');
    const { pid: ended } = spawnSync(process.execPath, ['--version']);
    const others = ['mutation', `mutation-workflows-${process.pid}`, 'mutation-workflows-old'];
    for (const name of [...others, `mutation-workflows-${ended}`]) {
      mkdirSync(join(cacheDir.path, name));
    }
    const script = `import { removeStale } from './scripts/mutation/stale.mjs'; removeStale(process.argv[1]);`;
    const options = { cwd: root, encoding: 'utf8' } as const;
    for (const cache of [cacheDir.path, join(cacheDir.path, 'missing')]) {
      const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, cache], options);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
    expect(readdirSync(cacheDir.path).sort()).toEqual(others);
    await cacheDir.remove();
  });
});
