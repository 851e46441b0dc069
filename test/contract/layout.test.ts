import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { areasOf, groups, namesArea, topLevel, withoutArea } from './layout';
import { entriesOf, files, filesByFolder, foldersIn, root } from './repository';

/** Folders beside the groups of a layer, where there are any. */
const besideGroups: Record<string, string[]> = {
  api: [],
  contracts: [],
  stores: ['blobs', 'board-files', 'mongo', 'port', 'rules', 'sqlite', 'watch'],
  'docs/use': ['services'],
  // Rules that every operation of the API obeys.
  'test/api': ['http', 'idempotency', 'lists', 'permissions', 'workspaces'],
};

describe('the root of the repository', () => {
  it('has no entries but the known ones', () => {
    expect(entriesOf('').filter((name) => !topLevel.includes(name))).toEqual([]);
  });
});

describe('layers', () => {
  it.each(Object.entries(besideGroups))('%s has the folders of the groups', (layer, others) => {
    expect(foldersIn(layer).filter((name) => !groups.includes(name) && !others.includes(name))).toEqual([]);
  });
});

describe('folders', () => {
  const maxSources = 20;
  const isSource = (name: string) => /\.(?:ts|mjs|cjs|js|py|java)$/.test(name);
  const isTest = (name: string) => name.endsWith('.test.ts');

  it(`have at most ${maxSources} sources`, () => {
    const crowded = [...filesByFolder()].filter(([folder, names]) => {
      const counted = names.filter((name) => isSource(name) && (folder.startsWith('test/') || !isTest(name)));
      return counted.length > maxSources;
    });
    expect(crowded.map(([folder]) => folder)).toEqual([]);
  });
});

describe('sources', () => {
  const maxLines = 400;
  const generated = ['clients/typescript/src/types.ts'];

  it(`have at most ${maxLines} lines`, () => {
    const long = files.filter(
      (file) =>
        /\.(?:ts|mjs|cjs)$/.test(file) &&
        !generated.includes(file) &&
        readFileSync(join(root, file), 'utf8').split('\n').length > maxLines + 1,
    );
    expect(long).toEqual([]);
  });
});

describe('areas', () => {
  it('have routes.ts', () => {
    const areas = groups.flatMap((group) => areasOf(group).map((area) => `api/${group}/${area}`));
    expect(areas.filter((area) => !files.includes(`${area}/routes.ts`))).toEqual([]);
  });
});

describe('resources', () => {
  /** Files that are named after a resource, and what is left of their names when their role is taken off. */
  const named: [layer: string, role: RegExp][] = [
    ['contracts', /\.ts$/],
    ['stores', /-store\.ts$/],
    ['test/api', /(?:\.[a-z-]+)?\.test\.ts$/],
  ];

  it.each(named)('have the name of an area in %s', (layer, role) => {
    const unknown = groups.flatMap((group) =>
      files.filter((file) => {
        if (!file.startsWith(`${layer}/${group}/`) || !role.test(file) || withoutArea.has(file)) {
          return false;
        }
        const segments = file.slice(`${layer}/${group}/`.length).replace(role, '').split('/');
        return !segments.some((name) => namesArea(group, name));
      }),
    );
    expect(unknown).toEqual([]);
  });
});

describe('test files', () => {
  it('name their subject in a describe', () => {
    const tests = files.filter((file) => /\.(?:test|wire|package)\.ts$/.test(file));
    expect(tests.length).toBeGreaterThan(300);
    // One that runs another file of tests has its subject from there.
    const withDescribe = /^ *describe[.(]|: describe;$|^import '\.\/[\w-]+\.test';$/m;
    expect(tests.filter((file) => !withDescribe.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });
});
