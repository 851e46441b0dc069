import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline } from '../../../../providers/git/git';
import { aWorktree, commit, type GitFixture, put, sh } from '../git-fixture';

const attemptId = 'attempt_damaged1';

let at: GitFixture;
let baseline: Baseline;
let gitDir: string;

beforeEach(async () => {
  at = await aWorktree();
  baseline = await at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
  gitDir = baseline.gitDir;
  await put(at.worktree, { 'work.txt': 'work\n' });
  await commit(at.worktree, 'Work');
});
afterEach(() => at.directory.remove());

const request = () => ({ worktreePath: at.worktree, baseline });
const inRepository = (name: string) => join(at.repository, '.git', name);

/** What an agent may do to what its repository has of its worktree, and what is reported then. */
const damages: Record<string, [() => Promise<unknown>, string]> = {
  'a worktree that git removed': [
    () => sh(at.repository, 'worktree', 'remove', '--force', at.worktree),
    'worktree-removed',
  ],
  'a worktree that git pruned': [
    async () => {
      await rm(at.worktree, { recursive: true });
      await sh(at.repository, 'worktree', 'prune');
    },
    'worktree-removed',
  ],
  'a removed administrative directory': [() => rm(gitDir, { recursive: true }), 'worktree-replaced'],
  'a broken HEAD': [() => writeFile(join(gitDir, 'HEAD'), 'broken\n'), 'worktree-replaced'],
  'a removed HEAD': [() => rm(join(gitDir, 'HEAD')), 'worktree-replaced'],
  'a directory in the place of HEAD': [
    () => rm(join(gitDir, 'HEAD')).then(() => mkdir(join(gitDir, 'HEAD'))),
    'worktree-replaced',
  ],
  'a repository without objects': [
    async () => {
      for (const name of await readdir(inRepository('objects'))) {
        await rm(join(inRepository('objects'), name), { recursive: true });
      }
    },
    'repository-damaged',
  ],
  'a repository without its directory of objects': [
    () => rm(inRepository('objects'), { recursive: true }),
    'repository-damaged',
  ],
  'a removed repository': [() => rm(inRepository('.'), { recursive: true }), 'repository-damaged'],
};

describe.each(Object.keys(damages))('%s', (name) => {
  test('is reported as such, and not as what may pass', async () => {
    const [damage, code] = damages[name]!;
    await damage();
    await expect(at.git.collectChanges(request())).rejects.toMatchObject({ code });
    const inTurn = async () => {
      await at.git.preserveAttempt({ ...request(), attemptId });
      await at.git.restoreBaseline(request());
    };
    await expect(inTurn()).rejects.toMatchObject({ code });
  });
});

test('a branch that names no commit of the repository is reported as damage', async () => {
  await writeFile(inRepository('refs/heads/board/task'), `${'1'.repeat(40)}\n`);
  await expect(at.git.collectChanges(request())).rejects.toMatchObject({ code: 'repository-damaged' });
});

test('what may pass is not reported as damage', async () => {
  await rename(at.repository, `${at.repository}-elsewhere`);
  await expect(at.git.collectChanges(request())).rejects.toMatchObject({ code: 'not-a-repository' });
  await rename(`${at.repository}-elsewhere`, at.repository);
  await chmod(join(gitDir, 'HEAD'), 0);
  const isRoot = process.getuid?.() === 0;
  const changes = at.git.collectChanges(request());
  await (isRoot ? changes : expect(changes).rejects.not.toMatchObject({ code: /worktree-|repository-damaged/ }));
  await chmod(join(gitDir, 'HEAD'), 0o644);
  expect(await at.git.collectChanges(request())).toMatchObject({ commits: [{ subject: 'Work' }] });
});

test.each(['a removed administrative directory', 'a broken HEAD', 'a removed HEAD'])(
  'a worktree with %s is moved aside when it is removed, and its branch is stored',
  async (name) => {
    const head = (await sh(at.worktree, 'rev-parse', 'HEAD')).trim();
    await damages[name]![0]();
    const place = { ...at.request, worktreePath: at.worktree, identity: baseline.identity!, baseBranch: 'main' };
    expect((await at.git.inspectWorktree(place)).replaced).toMatch(/gone|names no branch/);
    const removal = { ...place, id: 'op_damaged1', insideDir: join(at.directory.path, 'worktrees'), headSha: head };
    await expect(at.git.removeWorktree({ ...removal, force: false })).rejects.toMatchObject({
      code: 'worktree-replaced',
    });
    const removed = await at.git.removeWorktree({ ...removal, force: true });
    expect(removed).toMatchObject({ preserved: { commit: head }, movedAside: `${at.worktree}.replaced-op_damaged1` });
    expect(await readdir(removed.movedAside!)).toContain('work.txt');
    expect(await at.git.ensureWorktree(at.request)).toMatchObject({ created: true });
  },
);
