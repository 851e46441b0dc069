/**
 * Compiles each source to its file in `dist/`, where that is older than the source. Types are left to `npm run check` and
 * to `npm run dev`: so a first start compiles in seconds and a change of one file in a moment.
 *
 * @throws Error that names the file and the place of a syntax error
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import swc from '@swc/core';

/**
 * Packages that a process loads when it first uses them, since most never do: the driver of the store that is not configured,
 * the clients of forges, the protocol of agents. All of them cost 0.3 s of CPU and 20 MB at every start.
 */
const loadedOnUse = [
  '@agentclientprotocol/sdk/unstable',
  '@gitbeaker/core',
  '@gitbeaker/requester-utils',
  '@octokit/core',
  '@octokit/plugin-paginate-rest',
  'mongodb',
  'openid-client',
  'unpdf',
];

const options = {
  configFile: false,
  swcrc: false,
  sourceMaps: true,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // `import()` stays: it is how packages that are ES modules only are loaded.
  module: { type: 'commonjs', ignoreDynamic: true, lazy: loadedOnUse },
};

/** What every output depends on beside its source. */
const compiler = createHash('sha256').update(swc.version).update(JSON.stringify(options)).digest('hex');

const outputOf = (path) => path.replace(/\.ts$/, '.js');

async function compileFile(root, path, output) {
  const { code, map } = await swc.transformFile(join(root, path), {
    ...options,
    sourceFileName: relative(dirname(output), join(root, path)).split(sep).join('/'),
  });
  await mkdir(dirname(output), { recursive: true });
  const name = basename(output);
  await writeFile(`${output}.map`, map);
  await writeFile(output, `${code}\n//# sourceMappingURL=${name}.map\n`);
}

async function isOlder(output, source) {
  const [written, changed] = await Promise.all([stat(output).catch(() => undefined), stat(source)]);
  // The same moment is older: a coarse clock may hide that the source was saved later.
  return written === undefined || written.mtimeMs <= changed.mtimeMs;
}

/**
 * @param paths of the sources, relative to `root`
 * @returns how many of them were compiled
 */
export async function compile(root, dist, paths) {
  const stamp = join(dist, '.compiler');
  const isAnotherCompiler = (await readFile(stamp, 'utf8').catch(() => '')) !== compiler;
  const stale = [];
  for (const path of paths) {
    const output = join(dist, outputOf(path));
    if (isAnotherCompiler || (await isOlder(output, join(root, path)))) {
      stale.push({ path, output });
    }
  }
  const atOnce = 8;
  const work = stale.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const { path, output } of work) {
        await compileFile(root, path, output);
      }
    }),
  );
  await writeFile(stamp, compiler);
  return stale.length;
}
