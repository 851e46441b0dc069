import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aWorktree, commit, type GitFixture, put, sh, stateOf } from './git-fixture';

const attemptId = 'attempt_killed01';
let at: GitFixture;
let path: string | undefined;

beforeEach(async () => {
  at = await aWorktree();
  path = process.env.PATH;
});
afterEach(async () => {
  process.env.PATH = path;
  await at.directory.remove();
});

/**
 * Puts a git before the real one that works `calls` times, and then dies as if it was killed halfway: with a lock left
 * behind when there is a worktree.
 */
async function gitThatDiesAfter(calls: number): Promise<void> {
  const bin = join(at.directory.path, `bin-${calls}`);
  const counter = join(bin, 'count');
  const admin = join(at.repository, '.git/worktrees/task');
  await mkdir(bin, { recursive: true });
  await writeFile(counter, '');
  const script = `#!/bin/sh
printf x >> '${counter}'
if [ $(wc -c < '${counter}') -gt ${calls} ]; then
  [ -d '${admin}' ] && : > '${admin}/index.lock'
  kill -9 $$
fi
PATH='${path ?? ''}' exec git "$@"
`;
  await writeFile(join(bin, 'git'), script);
  await chmod(join(bin, 'git'), 0o755);
  process.env.PATH = `${bin}:${path ?? ''}`;
}

/** Kills `operation` before each of its git commands in turn, until it gets through; answers how often. */
async function killEverywhere(operation: () => Promise<unknown>, after: () => Promise<void>): Promise<number> {
  for (let calls = 0; ; calls += 1) {
    await gitThatDiesAfter(calls);
    const survived = await operation().then(
      () => true,
      () => false,
    );
    process.env.PATH = path;
    await after();
    if (survived) return calls;
  }
}

it('a worktree is made whole wherever its making was killed', async () => {
  const { git, repository, worktree, request } = at;
  const wanted = await stateOf(worktree);
  await sh(repository, 'worktree', 'remove', '--force', worktree);
  const kills = await killEverywhere(
    () => git.ensureWorktree(request),
    async () => {
      await git.ensureWorktree(request);
      expect(await stateOf(worktree)).toEqual(wanted);
      await sh(repository, 'worktree', 'remove', '--force', worktree);
      await sh(repository, 'branch', '-D', request.branch);
    },
  );
  expect(kills).toBeGreaterThan(5);
});

it('a worktree is put back wherever that was killed, and what the attempt left is not replaced by half of it', async () => {
  const { git, worktree } = at;
  await put(worktree, { 'src/a.txt': 'mine\n', untracked: 'mine\n' });
  const wanted = await stateOf(worktree);
  const baseline = await git.captureBaseline({ worktreePath: worktree, attemptId });
  const work = async () => {
    await commit(worktree, 'Work');
    await sh(worktree, 'checkout', '-q', '-B', 'elsewhere');
    await put(worktree, { 'src/a.txt': 'theirs\n', fresh: 'theirs\n', 'src/b.txt': 'theirs\n' });
  };
  await work();
  const kept = await git.preserveAttempt({ worktreePath: worktree, attemptId, baseline });
  const kills = await killEverywhere(
    () => git.restoreBaseline({ worktreePath: worktree, baseline }),
    async () => {
      expect(await git.preserveAttempt({ worktreePath: worktree, attemptId, baseline })).toEqual(kept);
      await git.restoreBaseline({ worktreePath: worktree, baseline });
      expect(await stateOf(worktree)).toEqual(wanted);
      await work();
    },
  );
  expect(kills).toBeGreaterThan(5);
});
