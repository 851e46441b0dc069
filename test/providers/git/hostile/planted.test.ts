import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline } from '../../../../providers/git/git';
import { contents, put, sh } from '../git-fixture';
import { aClone, type CloneFixture } from '../git-remote-fixture';

/** What an agent, which can write to the repository, puts there so that others write elsewhere. */

const attemptId = 'attempt_planted1';

let at: CloneFixture;
let baseline: Baseline;
let others: string;

describe('planted files of git', () => {
  beforeEach(async () => {
    at = await aClone();
    baseline = await at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
    others = join(at.directory.path, 'others');
    await put(others, { precious: '', 'board/task.lock': 'theirs\n' });
    await put(at.worktree, { 'src/a.txt': 'work\n' });
  });
  afterEach(() => at.directory.remove());

  const inGit = (path: string) => join(at.repository, '.git', path);

  async function plant(path: string, target = others): Promise<void> {
    await rm(inGit(path), { recursive: true, force: true });
    await mkdir(join(inGit(path), '..'), { recursive: true });
    await symlink(target, inGit(path));
  }

  const moved = async (path: string): Promise<void> => {
    await rename(inGit(path), join(others, 'taken'));
    await symlink(join(others, 'taken'), inGit(path));
  };

  const attacks: Record<string, () => Promise<void>> = {
    'a link in the place of our references': () => plant('refs/board/attempts'),
    'one in the place of all of ours': () => plant('refs/board'),
    'one that leads nowhere yet': () => plant('refs/board/attempts', join(others, 'later')),
    'one in the place of branches': () => moved('refs/heads'),
    'one in the place of all references': () => moved('refs'),
    'one in the place of all logs': () => plant('logs'),
    'one in the place of logs of branches': () => plant('logs/refs/heads'),
    'one in the place of a log': () => plant('logs/refs/heads/board/task', join(others, 'precious')),
    'one in the place of a log of the worktree': () => plant('worktrees/task/logs/HEAD', join(others, 'precious')),
    'one in the place of all objects': () => moved('objects'),
    'one in the place of packs': () => moved('objects/pack'),
    'one in the place of packed references': () => plant('packed-refs', join(others, 'precious')),
    'one in the place of what is set aside': () => plant('board'),
  };

  const operations: Record<string, () => Promise<unknown>> = {
    preserving: () => at.git.preserveAttempt({ worktreePath: at.worktree, attemptId, baseline }),
    restoring: () => at.git.restoreBaseline({ worktreePath: at.worktree, baseline }),
    rebasing: () =>
      at.git.rebaseOnto({ worktreePath: at.worktree, branch: 'board/task', ontoSha: at.baseSha, id: 'op_planted' }),
    'fetching the base': () => at.git.fetchBase({ repositoryPath: at.repository, remote: 'origin', branch: 'main' }),
    'ensuring it': () => at.git.ensureWorktree(at.request),
    'removing it': () =>
      at.git.removeWorktree({
        ...at.inspection,
        insideDir: at.insideDir,
        id: 'op_gone',
        headSha: at.baseSha,
        force: true,
      }),
  };

  it.each(Object.keys(attacks))('nothing is written through %s', async (name) => {
    await attacks[name]?.();
    const before = await contents(others);
    const outcomes: string[] = [];
    for (const [operation, run] of Object.entries(operations)) {
      const outcome = await run().then(
        () => 'done',
        (error: unknown) => String(error),
      );
      outcomes.push(outcome);
      expect([operation, await contents(others)]).toEqual([operation, before]);
    }
    expect(outcomes[0]).toMatch(/symbolic link/);
  });

  it('a reference of ours that leads to a branch does not move that branch', async () => {
    const main = await sh(at.repository, 'rev-parse', 'main');
    await put(inGit('refs/board/attempts'), { [attemptId]: 'ref: refs/heads/main\n' });
    await put(inGit('refs/heads/board'), { task: 'ref: refs/heads/main\n' });
    await at.git.preserveAttempt({ worktreePath: at.worktree, attemptId: 'attempt_planted2', baseline });
    await put(inGit('refs/board/baselines'), { attempt_planted3: 'ref: refs/heads/main\n' });
    await at.git.captureBaseline({ worktreePath: at.worktree, attemptId: 'attempt_planted3' });
    expect(await sh(at.repository, 'rev-parse', 'main')).toBe(main);
    await at.git.restoreBaseline({ worktreePath: at.worktree, baseline });
    expect(await sh(at.repository, 'rev-parse', 'main')).toBe(main);
    expect(await readFile(inGit('refs/heads/board/task'), 'utf8')).toMatch(/^[0-9a-f]{40}\n$/);
  });

  it('a reference whose file is a link is replaced, and what the link leads to stays', async () => {
    await writeFile(join(others, 'reference'), await sh(at.repository, 'rev-parse', 'main'));
    await plant('refs/heads/board/task', join(others, 'reference'));
    const before = await contents(others);
    await at.git.restoreBaseline({ worktreePath: at.worktree, baseline });
    expect(await contents(others)).toEqual(before);
  });

  it('another repository in the place of a configured one is not used, until it is read again', async () => {
    const { git, repository } = at;
    await git.configureRepository({ repositoryPath: repository });
    const planted = join(others, 'repository');
    await mkdir(planted);
    await sh(planted, 'init', '--quiet', '--initial-branch', 'main');
    await sh(planted, 'remote', 'add', 'origin', join(others, 'elsewhere'));
    await rename(join(repository, '.git'), join(others, 'former'));
    await symlink(join(planted, '.git'), join(repository, '.git'));
    const fetch = () => git.fetchBase({ repositoryPath: repository, remote: 'origin', branch: 'main' });
    await expect(fetch()).rejects.toMatchObject({ code: 'repository-diverted' });
    await expect(git.configureRepository({ repositoryPath: repository })).rejects.toMatchObject({
      code: 'repository-diverted',
    });
    await git.configureRepository({ repositoryPath: repository, reread: true });
    await expect(fetch()).rejects.not.toMatchObject({ code: 'repository-diverted' });
  });
});
