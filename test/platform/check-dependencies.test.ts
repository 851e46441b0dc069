import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const script = join(__dirname, '..', '..', 'scripts', 'check-dependencies.mjs');

/** A registry that has these packages at 1.0.0, and responds to audits with a status and these severities by package. */
let advisories: Record<string, string> = {};
let auditStatus = 200;
let registry: Server;
let project: TempDir;

const advisory = (severity: string) => ({
  id: 1,
  url: 'https://example.org/advisory',
  title: 'Runs what it is sent',
  severity,
  vulnerable_versions: '<2.0.0',
  cwe: [],
  cvss: { score: 0, vectorString: null },
});
const packument = (name: string) => ({
  name,
  'dist-tags': { latest: '1.0.0' },
  versions: { '1.0.0': { name, version: '1.0.0', dist: { tarball: 'http://127.0.0.1/x.tgz' } } },
});

beforeAll(async () => {
  registry = createServer((request, response) => {
    request.resume();
    const isAudit = request.url?.includes('/audits/') === true || request.url?.endsWith('/advisories/bulk') === true;
    response.statusCode = isAudit ? auditStatus : 200;
    response.setHeader('Content-Type', 'application/json');
    const found = Object.entries(advisories).map(([name, severity]) => [name, [advisory(severity)]]);
    response.end(JSON.stringify(isAudit ? Object.fromEntries(found) : packument(request.url?.slice(1) ?? '')));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => registry.close(resolve)));
beforeEach(async () => {
  advisories = {};
  auditStatus = 200;
  project = await makeTempDir('dependencies');
});
afterEach(() => project.remove());

const ours = ['@parcel/watcher', '@swc/core', 'protobufjs', 'roaring', 'unrs-resolver'];
const good = { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA' };
type Entries = Record<string, Record<string, unknown>>;
const scripted = (names: string[]): Entries =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { ...good, hasInstallScript: true }]));

const allowing = (names: string[]): Record<string, boolean> => Object.fromEntries(names.map((name) => [name, true]));

/** Checks a project with these packages besides those whose install scripts are known. */
async function check(packages: Entries, known = ours, allowScripts = allowing(ours)) {
  const all: Entries = { ...scripted(known), ...packages };
  const top = Object.entries(all).flatMap(([path, { dev }]) => {
    const name = path.replace(/^node_modules\//, '');
    return name.includes('node_modules/') ? [] : [[name, '1.0.0', dev === true] as const];
  });
  const of = (dev: boolean) =>
    Object.fromEntries(top.filter(([, , isDev]) => isDev === dev).map((entry) => entry.slice(0, 2)));
  const engines = { node: '>=20.19' };
  const root = { name: 'fixture', version: '1.0.0', engines, dependencies: of(false), devDependencies: of(true) };
  const lockfile = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, ...all } };
  await writeFile(join(project.path, 'package.json'), JSON.stringify({ ...root, allowScripts }));
  await writeFile(join(project.path, 'package-lock.json'), JSON.stringify(lockfile));
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: join(project.path, 'cache'),
    npm_config_fetch_retry_mintimeout: '1',
    npm_config_fetch_retry_maxtimeout: '1',
  };
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(process.execPath, [script, project.path], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

const left = (entry: Record<string, unknown> = {}): Entries => ({ 'node_modules/left': { ...good, ...entry } });

describe('check of dependencies', () => {
  it('accepts packages with allowed licences, integrity and the known install scripts', async () => {
    const { code, output } = await check({
      ...left({ license: '(GPL-3.0-only OR MIT)', engines: { node: '^18.0 || >= 20.9 <25' } }),
      'node_modules/optional': { ...good, optional: true, engines: { node: '>=22' } },
    });
    expect(output).toContain('Dependencies pass: advisories, licences, install scripts, integrity.');
    expect([code, output]).toEqual([0, expect.not.stringContaining('WARNING')]);
  });

  it('refuses install scripts, licences and sources that are not listed, each by its package', async () => {
    const refused: [string, Record<string, unknown>, string][] = [
      ['scripted', { hasInstallScript: true }, 'has an install script'],
      ['a/node_modules/nested', { hasInstallScript: true }, 'has an install script'],
      ['copyleft', { license: 'GPL-3.0-only' }, 'the licence GPL-3.0-only is not on the list'],
      ['also-copyleft', { license: 'MIT AND GPL-3.0-only' }, 'the licence MIT AND GPL-3.0-only is not on the list'],
      ['later', { engines: { node: '^18.2 || >=22' } }, 'is for Node ^18.2 || >=22, this package for 20.19'],
      ['unlicensed', { license: undefined }, 'the licence (none declared) is not on the list'],
      ['unchecked', { integrity: undefined }, 'has no SHA-512 integrity'],
      ['weak', { integrity: 'sha1-AAAA' }, 'has no SHA-512 integrity'],
      ['elsewhere', { resolved: 'https://example.org/elsewhere.tgz' }, 'is resolved to an address'],
      ['repository', { resolved: 'git+ssh://git@example.org/repository.git#abc' }, 'is resolved to an address'],
    ];
    const packages = refused.map(([name, entry]) => [`node_modules/${name}`, { ...good, ...entry }]);
    const { code, output } = await check(Object.fromEntries(packages) as Entries);
    expect(code).toBe(1);
    const lines = output.split('\n');
    const missed = refused.filter(([name, , problem]) => {
      const start = `- ${name.replace(/.*node_modules\//, '')}`;
      return !lines.some((line) => line.startsWith(start) && line.includes(problem));
    });
    expect(missed).toEqual([]);
    expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(refused.length);
  });

  it('refuses a list of install scripts that is out of date', async () => {
    const { code, output } = await check({}, ours.slice(1));
    expect([code, output]).toEqual([1, expect.stringContaining('@parcel/watcher: is listed')]);
  });

  it('refuses a package.json that allows other install scripts than the known ones', async () => {
    const { code, output } = await check({}, ours, { ...allowing(ours), roaring: false, left: true });
    expect([code, output]).toEqual([1, expect.stringContaining('left: is in allowScripts')]);
    expect(output).toContain('roaring: is a package with a known install script that allowScripts does not allow');
  });

  it('refuses licences of what is shipped only', async () => {
    expect((await check(left({ license: 'GPL-3.0-only', dev: true }))).code).toBe(0);
  });
});

describe('advisories', () => {
  it.each([
    ['high', 'production', 1],
    ['moderate', 'production', 0],
    ['high', 'development', 0],
    ['critical', 'development', 1],
  ])('that are %s, of a %s package, exit with %d', async (severity, use, expected) => {
    advisories = { left: severity };
    const { code, output } = await check(left({ dev: use === 'development' }));
    expect([code, output]).toEqual([expected, expect.any(String)]);
    if (expected === 1) {
      expect(output).toMatch(/left .*Runs what it is sent/);
    }
  });

  it.each([404, 405])('of a registry without audits (%d) are reported as not checked', async (status) => {
    auditStatus = status;
    const { code, output } = await check(left());
    expect([code, output]).toEqual([0, expect.stringContaining('WERE NOT CHECKED')]);
    expect(output).toContain('Dependencies pass: licences');
  });

  it('of a registry that does not answer fail the check', async () => {
    auditStatus = 503;
    const { code, output } = await check(left());
    expect([code, output]).toEqual([1, expect.stringContaining('the registry gave no advisories')]);
  });
});
