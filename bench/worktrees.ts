/**
 * What making and merging a worktree costs beside the git commands it cannot do without, on a repository of 10,000 files:
 * `npm run build && TMPDIR=/dev/shm node dist/bench/worktrees.js`. Starts the whole service on a directory of its own, and
 * removes it. In memory, because a disk that catches up with the 10,000 files of the round before is what one measures
 * otherwise.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BoardClient, unwrap } from '../clients/typescript/src';
import { makeTempDir } from '../platform/testing/temp-dir';
import { startAll } from '../scripts/start-all';
import { addRepository, boardOf, createTask, openService } from './service';

const files = 10_000;
const rounds = 15;
const run = promisify(execFile);

async function git(cwd: string, ...args: string[]): Promise<string> {
  // Git's own housekeeping in the background is not what is measured.
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', '-c', 'maintenance.auto=false'];
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

/** What creation has to ask of git: the current base, and the worktree. */
async function bareCreate(repository: string, path: string, branch: string): Promise<void> {
  await git(repository, 'fetch', '--quiet', '--no-tags', 'origin', 'main');
  await git(repository, 'worktree', 'add', '--quiet', '-b', branch, path, 'origin/main');
}

/** What a merge has to ask of git: the current base, a detached worktree, the merge and the push. */
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

/** What the service takes longer, round by round: a slow disk or a busy machine meets both halves of a round. */
const overhead = (bare: number[], durable: number[]): number =>
  median(durable.map((value, round) => value - (bare[round] ?? 0)));

/** Without the first round, which warms up. */
const median = ([, ...values]: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** One round of git alone. */
async function roundOfGit(
  dir: string,
  { repository, name, timings }: { repository: string; name: string; timings: Timings },
): Promise<void> {
  const path = join(dir, name);
  timings.create.push(await timed(() => bareCreate(repository, path, name)));
  await work(path, name);
  timings.merge.push(await timed(() => bareMerge(repository, join(dir, 'integration'), name)));
}

/** One round of the service, as a caller measures it. */
async function roundOfService(board: BoardClient, name: string, timings: Timings): Promise<void> {
  const taskId = await createTask(board, { title: name, git: { repo: 'large' } });
  const request = { params: { path: { taskId } }, body: {} };
  let path = '';
  timings.create.push(
    await timed(async () => {
      ({ path } = await unwrap(board.POST('/api/tasks/{taskId}/worktree', request)));
    }),
  );
  await work(path, name);
  timings.merge.push(await timed(() => unwrap(board.POST('/api/tasks/{taskId}/worktree/merge', request))));
}

async function main(): Promise<void> {
  const dir = await makeTempDir('bench-worktrees');
  const service = await startAll({
    environment: openService,
    dataDir: join(dir.path, 'data'),
    ports: { api: 0 },
    quiet: true,
  });
  try {
    const repository = await aLargeRepository(dir.path);
    const board = boardOf(service);
    await addRepository(board, { name: 'large', path: repository, remote: 'origin' });
    const bare: Timings = { create: [], merge: [] };
    const durable: Timings = { create: [], merge: [] };
    // In turns, so that both meet the same disk; the first round of each warms up.
    for (let round = 0; round <= rounds; round += 1) {
      await roundOfGit(dir.path, { repository, name: `bare-${round}`, timings: bare });
      await roundOfService(board, `round-${round}`, durable);
    }
    const row = (kind: keyof Timings) => ({
      'git alone, ms': Math.round(median(bare[kind])),
      'runboard, ms': Math.round(median(durable[kind])),
      'overhead, ms': Math.round(overhead(bare[kind], durable[kind])),
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
