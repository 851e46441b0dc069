import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
