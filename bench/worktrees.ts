/**
 * What making and merging a worktree costs beside the git commands it cannot do without, on a repository of 10,000 files:
 * `npm run build && node dist/bench/worktrees.js`. Starts the whole service on a directory of its own, and removes it.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir } from '../platform/testing/temp-dir';
import { startAll } from '../scripts/start-all';

const files = 10_000;
const rounds = 10;
const run = promisify(execFile);

async function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost'];
  return (await run('git', [...identity, ...args], { cwd, maxBuffer: 1 << 26 })).stdout.trim();
}

/** A repository with `files` files in folders of a hundred, and its bare remote. */
async function aLargeRepository(dir: string): Promise<string> {
  const path = join(dir, 'large');
  await mkdir(path);
  await git(path, 'init', '--quiet', '--initial-branch=main');
  for (let folder = 0; folder < files / 100; folder += 1) {
    await mkdir(join(path, `folder-${folder}`));
    for (let file = 0; file < 100; file += 1) {
      await writeFile(join(path, `folder-${folder}`, `file-${file}.txt`), `${folder} ${file}\n`.repeat(20));
    }
  }
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '-m', 'Begin');
  await git(dir, 'init', '--quiet', '--bare', '--initial-branch=main', 'large.git');
  await git(path, 'remote', 'add', 'origin', join(dir, 'large.git'));
  await git(path, 'push', '--quiet', 'origin', 'main');
  return path;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** What creation has to ask of git: the base as it is now, and the worktree. */
async function bareCreate(repository: string, path: string, branch: string): Promise<void> {
  await git(repository, 'fetch', '--quiet', '--no-tags', 'origin', 'main');
  await git(repository, 'worktree', 'add', '--quiet', '-b', branch, path, 'origin/main');
}

/** What a merge has to ask of git: the base as it is now, a detached worktree, the merge and the push. */
async function bareMerge(repository: string, path: string, branch: string): Promise<void> {
  await git(repository, 'fetch', '--quiet', '--no-tags', 'origin', 'main');
  await git(repository, 'worktree', 'add', '--quiet', '--detach', path, 'origin/main');
  await git(path, 'merge', '--quiet', '--no-ff', '-m', 'Merge', branch);
  await git(path, 'push', '--quiet', 'origin', 'HEAD:refs/heads/main');
  await git(repository, 'worktree', 'remove', '--force', path);
}

async function work(path: string, name: string): Promise<void> {
  await writeFile(join(path, `${name}.txt`), `${name}\n`);
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '-m', name);
}

interface Timings {
  create: number[];
  merge: number[];
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function measureGit(dir: string, repository: string): Promise<Timings> {
  const timings: Timings = { create: [], merge: [] };
  for (let round = 0; round < rounds; round += 1) {
    const path = join(dir, `bare-${round}`);
    timings.create.push(await timed(() => bareCreate(repository, path, `bare-${round}`)));
    await work(path, `bare-${round}`);
    timings.merge.push(await timed(() => bareMerge(repository, join(dir, 'integration'), `bare-${round}`)));
  }
  return timings;
}

async function measureService(apiUrl: string, repository: string): Promise<Timings> {
  const call = async (method: string, path: string, body: object): Promise<{ id: string; path: string }> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${apiUrl}/api${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as { id: string; path: string };
  };
  await call('POST', '/config/repos', { name: 'large', path: repository, remote: 'origin' });
  const timings: Timings = { create: [], merge: [] };
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await call('POST', '/tasks', { title: `Round ${round}`, git: { repo: 'large' } });
    let path = '';
    timings.create.push(
      await timed(async () => {
        ({ path } = await call('POST', `/tasks/${id}/worktree`, {}));
      }),
    );
    await work(path, `round-${round}`);
    timings.merge.push(await timed(() => call('POST', `/tasks/${id}/worktree/merge`, {})));
  }
  return timings;
}

async function main(): Promise<void> {
  const dir = await makeTempDir('bench-worktrees');
  const service = await startAll({
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, BOARD_AUTH_ENABLED: 'false', RATE_LIMIT_WRITE: '0' },
    dataDir: join(dir.path, 'data'),
    ports: { api: 0, temporalUi: 0 },
    quiet: true,
  });
  try {
    const repository = await aLargeRepository(dir.path);
    const bare = await measureGit(dir.path, repository);
    const durable = await measureService(service.apiUrl, repository);
    const row = (kind: keyof Timings) => ({
      'git alone, ms': Math.round(median(bare[kind])),
      'runboard, ms': Math.round(median(durable[kind])),
      'overhead, ms': Math.round(median(durable[kind]) - median(bare[kind])),
    });
    console.log(`Median of ${rounds} on a repository of ${files} files`);
    console.table({ create: row('create'), merge: row('merge') });
  } finally {
    await service.stop();
    await service.ended;
    await dir.remove();
  }
}

void main();
