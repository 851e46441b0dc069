/**
 * Takes the real agents through their checks and runs: `npm run test:agents`. Their packages come from the npm registry, in
 * the versions and with the integrity of `test/agents/packages`, without any install script; stored in the cache directory.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const packages = join(root, 'test', 'agents', 'packages');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'runboard', 'agents');
const files = ['package.json', 'package-lock.json'];

/** Programs of which npm leaves out the package for this platform without a word when it cannot be had. */
const optional = {
  'Claude Code': `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`,
  Codex: `@openai/codex-${process.platform}-${process.arch}`,
};

/** The directory with the packages installed, as the lockfile has them. */
function install() {
  const lock = createHash('sha256');
  for (const file of files) {
    lock.update(readFileSync(join(packages, file)));
  }
  const directory = join(cache, `${process.platform}-${process.arch}-${lock.digest('hex').slice(0, 16)}`);
  if (existsSync(join(directory, 'complete'))) {
    return directory;
  }
  const started = Date.now();
  console.log('Installing the packages of the agents: about 350 MB to fetch, 1 GB on disk …');
  const making = `${directory}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    for (const file of files) {
      copyFileSync(join(packages, file), join(making, file));
    }
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', making];
    const { status, error } = spawnSync('npm', args, { cwd: making, stdio: ['ignore', 2, 2] });
    if (error ?? status !== 0) {
      throw new Error(`npm could not install the packages of the agents${error ? `: ${error.message}` : '.'}`);
    }
    for (const [agent, name] of Object.entries(optional)) {
      if (!existsSync(join(making, 'node_modules', name))) {
        throw new Error(`npm has not installed ${name}: ${agent} cannot be tested.`);
      }
    }
    writeFileSync(join(making, 'complete'), '');
    rmSync(directory, { recursive: true, force: true });
    renameSync(making, directory);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
  return directory;
}

const jest = [require.resolve('jest/bin/jest'), '--config', join(root, 'test', 'tiers', 'agents.config.cjs')];
const { status } = spawnSync(process.execPath, [...jest, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, TEST_AGENT_PACKAGES: install() },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
