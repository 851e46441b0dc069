/**
 * Builds what `dist/` holds when a source is newer than the last build, and does nothing otherwise. Two commands at once
 * do not build over each other: the second waits, and then finds nothing to do.
 *
 * Plain JavaScript, because it is what turns TypeScript into something that runs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import lockfile from 'proper-lockfile';
import { compile } from './compile.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const compileCache = join(dist, '.compile-cache');

/** What is not compiled for Node; the page in `web` has a bundler of its own. */
const notSources = new Set(['node_modules', 'dist', 'test', 'coverage', 'target', 'web']);
const isSource = (name) => /^(?!.*\.test\.ts$).*\.ts$/.test(name);
const isManifest = (name) => /^(tsconfig.*|package|package-lock)\.json$/.test(name);
/** The build itself. */
const isBuilder = (name) => /^(?:compile|ensure-built)\.mjs$/.test(name);

/** Every file the build depends on. */
function* sources(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || notSources.has(entry.name)) {
      continue;
    }
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      yield* sources(path);
    } else if (isSource(entry.name) || isManifest(entry.name) || isBuilder(entry.name)) {
      yield path;
    }
  }
}

const page = join(root, 'web');
const pageIndex = join(dist, 'page', 'index.html');

/** Every file that the page is made of: its own, and those of the client. */
function* pageSources() {
  if (!existsSync(page)) {
    return;
  }
  for (const directory of [page, join(root, 'clients', 'typescript', 'src')]) {
    for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !/^(?:node_modules|test)(?:[/\\]|$)/.test(relative(directory, path))) {
        yield path;
      }
    }
  }
}

const newestOf = (paths) =>
  // A file may go between the listing and this.
  paths.reduce((newest, path) => Math.max(newest, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0), 0);

const isPageStale = () =>
  existsSync(page) && newestOf([...pageSources()]) > (statSync(pageIndex, { throwIfNoEntry: false })?.mtimeMs ?? 0);

/** When what `dist/` holds was begun to be built, in milliseconds; 0 when it never was. */
export const builtAt = () => statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** When a source was changed last, in milliseconds. */
export const changedAt = () => newestOf([...sources(root), ...pageSources()]);

const isFresh = () => builtAt() > 0 && changedAt() <= builtAt();

/**
 * Removes what was compiled from sources that are gone: `contract.js` left behind would be found before the
 * `contract/index.js` that has replaced it.
 */
export function removeOrphans(sourceRoot, outputRoot) {
  for (const name of readdirSync(outputRoot, { recursive: true })) {
    const stem = /^(?!.*\bnode_modules\b|page[/\\])(.+)\.js(?:\.map)?$/.exec(name)?.[1];
    if (stem === undefined || bundle.test(stem)) {
      continue;
    }
    if (!existsSync(join(sourceRoot, `${stem}.ts`))) {
      rmSync(join(outputRoot, name));
    }
  }
}

/** What the build makes of several sources. */
const bundle = /(?:^|-)workflow-bundle$/;

const everyMs = 5_000;

/** Runs one step of the build; on standard error it prints which, every few seconds that it continues, and how long it took. */
async function step(name, work) {
  const startedAt = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1_000)} s`;
  console.error(`build: ${name} …`);
  const ticking = setInterval(() => console.error(`build: ${name} … ${seconds()}`), everyMs);
  await work().finally(() => clearInterval(ticking));
  console.error(`build: ${name}: ${seconds()}`);
}

async function run(...args) {
  await runIn(process.env, ...args);
}

async function runIn(env, ...args) {
  // Standard output belongs to the command that follows the build.
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    throw new Error(`The build failed: node ${args.join(' ')}`);
  }
}

/** A bundle that was begun before a source was saved is stale: its index is as old as its beginning. */
async function buildPage() {
  const startedAt = new Date();
  // Whatever environment the build is started in, such as that of tests: the page is never one for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await runIn(env, 'node_modules/vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn');
  utimesSync(pageIndex, startedAt, startedAt);
}

async function compileSources() {
  const paths = [...sources(root)].map((path) => relative(root, path)).filter(isSource);
  const changes = await compile(root, dist, paths);
  // Its version is read by the code.
  copyFileSync(join(root, 'package.json'), join(dist, 'package.json'));
  return changes;
}

/** A process takes what is recorded of sources that are as they were: after a small change that is nearly all of them. */
const smallChange = 50;

/** Whether what V8 compiled for the Node that runs is recorded, of the packages that are installed. */
function isRecorded() {
  const ofThisNode = (name) => name.startsWith(`${process.version}-`);
  const [name] = existsSync(compileCache) ? readdirSync(compileCache).filter(ofThisNode) : [];
  const installed = statSync(join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return name !== undefined && statSync(join(compileCache, name)).mtimeMs > installed;
}

/** Without it processes compile by themselves: a start only takes longer. */
async function recordCompiled() {
  await run('dist/scripts/record-compile-cache.js').catch(() => {
    rmSync(compileCache, { recursive: true, force: true });
    console.error('build: compiled code is not recorded; each start takes longer.');
  });
}

/**
 * @param checkTypes refuses to build what has a type error, which takes half a minute the first time
 * @throws Error when the build fails; its output is on standard error
 */
export async function ensureBuilt({ checkTypes = false } = {}) {
  if (isFresh()) {
    return;
  }
  mkdirSync(dist, { recursive: true });
  const lock = {
    lockfilePath: join(dist, '.build-lock'),
    stale: 60_000,
    retries: { retries: 600, factor: 1, minTimeout: 500 },
  };
  if (await lockfile.check(root, lock)) {
    console.error('build: waiting for another build …');
  }
  const unlock = await lockfile.lock(root, lock);
  try {
    if (isFresh()) {
      return;
    }
    // A source that is saved while the compiler runs is newer than this, and is built next time.
    const startedAt = new Date();
    removeOrphans(root, dist);
    if (checkTypes) {
      await step('checking types', () =>
        run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noEmit'),
      );
    }
    let changes = { compiled: 0, added: 0 };
    await step('compiling (1 of 3)', async () => {
      changes = await compileSources();
    });
    await step('bundling workflows (2 of 3)', () => run('dist/scripts/bundle-workflows.js'));
    // A file that was added may be what an earlier request leads to now.
    if (changes.compiled > smallChange || changes.added > 0 || !isRecorded()) {
      await step('recording compiled code (3 of 3)', recordCompiled);
    }
    if (isPageStale()) {
      await step('bundling the page', buildPage);
    }
    writeFileSync(stamp, '');
    utimesSync(stamp, startedAt, startedAt);
  } finally {
    await unlock();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await ensureBuilt({ checkTypes: process.argv.includes('--check-types') }).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
