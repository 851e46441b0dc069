import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { lendBranch } from '../../../providers/sandbox/lent-branch';
import { sh } from '../git/git-fixture';
import { aSandbox } from './sandbox-fixture';

let box: Awaited<ReturnType<typeof aSandbox>>;
beforeEach(async () => {
  box = await aSandbox();
});
afterEach(() => box.remove());

const identity = 'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x';
const branchOf = async () => (await sh(box.repository, 'rev-parse', 'board/task')).trim();
const common = () => join(box.repository, '.git');
const leftovers = async () => [
  ...(await readdir(join(common(), 'board', 'lent'))),
  ...(await readdir(join(common(), 'refs', 'heads', 'board'))).filter((name) => name.endsWith('.lock')),
];

describe('the branch that a sandbox has to itself', () => {
  it('takes commit, amend, rebase, reset and a merge, and is seen outside at once', async () => {
    const { repository, worktree } = box;
    await sh(repository, 'branch', 'board/sibling');
    const [ready, go] = ['ready', 'go'].map((name) => join(worktree, name)) as [string, string];
    const running = box.run(
      {},
      `${identity}
       echo 1 > one && git add one && git commit -q -m One && git commit -q --amend -m First
       echo 2 > two && git add two && git commit -q -m Second && git rebase -q --onto HEAD~2 HEAD~1 2>/dev/null
       git merge -q -m Merge board/sibling; git reset -q --soft HEAD~1 && git commit -q -m Again
       git rev-parse HEAD; git status -sb --untracked-files=no; touch ready; while [ ! -e go ]; do sleep 0.05; done`,
    );
    await eventually(() => expect(existsSync(ready)).toBe(true));
    const during = await branchOf();
    const locked = sh(repository, 'update-ref', 'refs/heads/board/task', 'main');
    await expect(locked).rejects.toThrow('File exists');
    await sh(repository, 'gc', '-q').catch(() => undefined);
    await writeFile(go, '');
    const { out } = await running;
    expect(out).toBe(`${during}\n## board/task`);
    expect(await branchOf()).toBe(during);
    expect(await sh(repository, 'log', '--format=%s', 'main..board/task')).toBe('Again\n');
    expect((await lstat(join(common(), 'refs/heads/board/task'))).isFile()).toBe(true);
    expect(await leftovers()).toEqual([]);
    expect(await sh(repository, 'fsck', '--full')).toBe('');
    await sh(repository, 'update-ref', 'refs/heads/board/task', 'main');
  });

  it.each([
    ['a reference to another branch', "echo 'ref: refs/heads/main' > $BRANCH"],
    ['a link', 'rm $BRANCH; ln -s ../../heads/main $BRANCH'],
    ['a pipe', 'rm $BRANCH; mkfifo $BRANCH'],
    ['a directory', 'rm $BRANCH; mkdir -p $BRANCH/x'],
    ['no id of a commit', 'echo x > $BRANCH'],
  ])('is where it was when the agent leaves %s', async (_what, script) => {
    const { baseSha } = box;
    await box.run({}, `BRANCH=${common()}/refs/heads/board/task; ${script}`);
    expect(await branchOf()).toBe(baseSha);
    expect((await sh(box.repository, 'symbolic-ref', '-q', 'refs/heads/board/task').catch(() => '')).trim()).toBe('');
    expect(await leftovers()).toEqual([]);
  });

  it('is gone when the agent has removed it, which is no obstacle for others', async () => {
    const { worktree } = box;
    const removed = join(worktree, 'removed');
    const running = box.run(
      {},
      `rm ${common()}/refs/heads/board/task; touch removed; while [ -e removed ]; do sleep 0.05; done`,
    );
    await eventually(() => expect(existsSync(removed)).toBe(true));
    const path = join(box.directory.path, 'worktrees', 'later');
    await box.git.ensureWorktree({ ...box.request, worktreePath: path, branch: 'board/later' });
    await rm(removed);
    await running;
    await expect(branchOf()).rejects.toThrow();
    expect(await leftovers()).toEqual([]);
  });

  it('that a killed worker has not returned is adopted by the next sandbox, and restored with the baseline', async () => {
    const { git, worktree, repository, baseSha } = box;
    const baseline = await git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_12345678' });
    const directory = await lendBranch(common(), 'board/task');
    const left = (await sh(repository, 'commit-tree', '-p', 'HEAD', '-m', 'Left', 'HEAD^{tree}')).trim();
    await writeFile(join(directory, 'task'), `${left}\n`);
    const { out } = await box.run({}, 'git rev-parse HEAD');
    expect(out).toBe(left);

    await writeFile(join(await lendBranch(common(), 'board/task'), 'task'), `${left}\n`);
    const preserved = await git.preserveAttempt({ worktreePath: worktree, attemptId: 'attempt_12345678', baseline });
    expect(preserved?.commit).toBe(left);
    await git.restoreBaseline({ worktreePath: worktree, baseline });
    expect(await branchOf()).toBe(baseSha);
    expect(await leftovers()).toEqual([]);
  });

  it('is reached by an agent that is another user, whatever the worker keeps private', async () => {
    const before = process.umask(0o077);
    try {
      await lendBranch(common(), 'board/task');
    } finally {
      process.umask(before);
    }
    for (const path of ['board', 'board/lent']) {
      expect((await lstat(join(common(), path))).mode & 0o777).toBe(0o711);
    }
  });

  it.each(['board', 'board/lent'])('is not lent where a link leads from %s out of the repository', async (path) => {
    const outside = join(box.directory.path, 'outside');
    await mkdir(join(outside, 'lent'), { recursive: true });
    await mkdir(join(common(), 'board'), { recursive: true });
    await rm(join(common(), path), { recursive: true, force: true });
    await symlink(path === 'board' ? outside : join(outside, 'lent'), join(common(), path));
    await expect(lendBranch(common(), 'board/task')).rejects.toThrow('symbolic link');
    expect(await readdir(join(outside, 'lent'))).toEqual([]);
  });

  it('waits for nothing that a killed worker has left of its lock', async () => {
    await writeFile(join(common(), 'refs/heads/board/task.lock'), await lockText());
    expect((await box.run({}, `${identity}; git commit -q --allow-empty -m Own && git log --format=%s -1`)).out).toBe(
      'Own',
    );
  });
});

async function lockText(): Promise<string> {
  await lendBranch(common(), 'board/task');
  const text = await readFile(join(common(), 'refs/heads/board/task.lock'), 'utf8');
  await box.run({}, 'true');
  return text;
}
