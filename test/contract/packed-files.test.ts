import { execFileSync } from 'node:child_process';
import manifest from '../../package.json';
import { root } from './repository';

interface Packed {
  filename: string;
  size: number;
  files: { path: string; size: number; mode: number }[];
}

describe('package that npm packs', () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
  ) as [Packed];
  const paths = packed.files.map(({ path }) => path);

  it('has the compiled service, the page, an example, the licence, and nothing else', () => {
    const allowed = [
      /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
      /^dist\/package\.json$/,
      /^dist\/page\//,
      /^dist\/[\w-]*workflow-bundle\.js(?:\.sha256)?$/,
      /^dist\/(?:activities|api|cli|client|contracts|domain|mcp|platform|providers|scripts|services|stores|worker|workflows)\/.*\.js$/,
      /^examples\/agent\/[\w.-]+$/,
    ];
    expect(paths.filter((path) => !allowed.some((pattern) => pattern.test(path)))).toEqual([]);
    const programs = ['api/main.js', 'worker/main.js', 'scripts/start.js', 'scripts/demo/main.js', 'cli/main.js'];
    const needed = [
      ...programs.map((name) => `dist/${name}`),
      'dist/page/index.html',
      'dist/workflow-bundle.js',
      'LICENSE',
    ];
    expect(needed.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('has no test, no source map, no settings and no secret', () => {
    const unwanted = /(?:\.test\.|\.map$|(?:^|\/)\.|secrets?\/|\.pem$|\.key$|\.env|node_modules|fixtures)/;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('is named after its version, starts by its own command, and stays small', () => {
    expect(packed.filename).toBe(`${manifest.name}-${manifest.version}.tgz`);
    expect(paths).toContain(manifest.bin.runboard);
    expect(packed.size).toBeLessThan(8_000_000);
  });
});
