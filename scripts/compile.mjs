/**
 * Compiles each source to its file in `dist/`, where that is older than the source. Types are left to `npm run check` and
 * to `npm run dev`: so a first start compiles in seconds and a change of one file in a moment.
 *
 * @throws Error that names the file and the place of a syntax error
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import swc from '@swc/core';

/**
 * Packages that a process loads when it first uses them, since most never do: the driver of the store that is not configured,
 * the clients of forges, models and tool servers, the SDK of workers in a process that has none.
 */
const loadedOnUse = [
  '@agentclientprotocol/sdk/unstable',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
  '@fastify/busboy',
  '@gitbeaker/core',
  '@gitbeaker/requester-utils',
  '@modelcontextprotocol/sdk/client/index.js',
  '@modelcontextprotocol/sdk/client/streamableHttp.js',
  '@modelcontextprotocol/sdk/server/mcp.js',
  '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js',
  '@modelcontextprotocol/sdk/types.js',
  '@noble/curves/secp256k1',
  '@node-rs/argon2',
  '@octokit/core',
  '@octokit/plugin-paginate-rest',
  '@temporalio/client',
  '@temporalio/worker',
  '@viz-js/viz',
  'ai',
  'ajv',
  'ajv-formats',
  'ajv/dist/2019',
  'ajv/dist/2020',
  'cockatiel',
  'fast-jwt',
  'fflate',
  'file-type',
  'jose',
  'json-p3',
  'koa-body',
  'libsql',
  'libsql/promise',
  'light-my-request',
  'markdown-it',
  'mingo',
  'mongodb',
  'openid-client',
  'piscina',
  'request-filtering-agent',
  'saxes',
  'unpdf',
  'ws',
  'yaml',
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
 * @returns how many of them were compiled, and how many of these had not been before
 */
export async function compile(root, dist, paths) {
  const stamp = join(dist, '.compiler');
  const isAnotherCompiler = (await readFile(stamp, 'utf8').catch(() => '')) !== compiler;
  const stale = [];
  let added = 0;
  for (const path of paths) {
    const output = join(dist, outputOf(path));
    added += existsSync(output) ? 0 : 1;
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
  return { compiled: stale.length, added };
}
