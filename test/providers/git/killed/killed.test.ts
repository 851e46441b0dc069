import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RewindDecision } from '../../../../contracts/runs/rewind';
import type { GitError } from '../../../../providers/git/git-error';
import { aRewindableWorktree, commit, contents, put, type RewindableWorktree, sh, stateOf } from '../git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from '../git-remote-fixture';
import { expectKills, killEverywhere } from './git-killer';

describe('of a clone', () => {
  let at: CloneFixture;

  beforeEach(async () => {
    at = await aClone();
  });
  afterEach(() => at.directory.remove());

  describe('removing a worktree', () => {
    const request = (over: { force: boolean; headSha: string; id: string }) => ({
      ...at.inspection,
      insideDir: at.insideDir,
      ...over,
    });
    const branches = () => sh(at.repository, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/board');

    it.each([
      [false, { commands: 14, changes: 3 }],
      [true, { commands: 27, changes: 9 }],
    ])('killed anywhere (force: %s), is brought to the same end by the next call', async (force, atLeast) => {
      const { git, repository, worktree, place } = at;
      const primary = await primaryOf(repository);
      const work = async (): Promise<string> => {
        await git.ensureWorktree(at.request);
        if (!force) {
          return at.baseSha;
        }
        const sha = await commit(worktree, 'Work');
        await put(worktree, { 'src/a.txt': 'changed', new: '1', 'sub/x': '1' });
        await sh(worktree, 'init', '-q', 'sub');
        await commit(join(worktree, 'sub'), 'Inner');
        return sha;
      };
      let headSha = await work();
      let round = 0;
      const kills = await killEverywhere(
        place,
        () => git.removeWorktree(request({ force, headSha, id: `wt_${round}` })),
        async () => {
          const files = await contents(worktree).catch(() => undefined);
          // What was not begun yet is not harmed by the lock of a killed git.
          await rm(join(place.adminDirectory, 'index.lock'), { force: true });
          const removed = await git.removeWorktree(request({ force, headSha, id: `wt_${round}` }));
          expect(await git.listWorktrees({ repositoryPath: repository })).toHaveLength(1);
          await expect(contents(worktree)).rejects.toThrow('ENOENT');
          expect((await branches()).includes('refs/heads/board/task')).toBe(false);
          expect(files === undefined || Object.keys(files).length > 3).toBe(true);
          if (force) {
            expect(await shaOf(repository, `${removed.preserved!.commit}:new`)).toBeDefined();
            expect(await shaOf(join(removed.setAside!, 'worktree/sub'), 'HEAD')).toBeDefined();
          }
          expect(await primaryOf(repository)).toEqual(primary);
          round += 1;
          headSha = await work();
        },
      );
      expectKills(kills, atLeast);
    });
  });

  describe('a rebase', () => {
    const rebase = (ontoSha: string, id: string) =>
      at.git.rebaseOnto({ worktreePath: at.worktree, branch: 'board/task', ontoSha, id });

    it.each([
      ['goes through', { 'src/theirs.txt': '1\n' }, { commands: 7, changes: 0 }],
      ['conflicts', { 'src/a.txt': 'theirs\n' }, { commands: 16, changes: 5 }],
    ])('that %s, killed anywhere, is brought to the same end by the next call', async (_, theirs, atLeast) => {
      const { worktree, place, repository } = at;
      const { headSha, ontoSha } = await at.diverge(theirs);
      const before = await stateOf(worktree);
      const primary = await primaryOf(repository);
      let round = 0;
      const end = () =>
        rebase(ontoSha, `op_${round}`).then(
          (done) => done.rebased,
          (error: unknown) => (error as GitError).code,
        );
      const wanted = await end();
      const files = await contents(worktree);
      const again = async () => {
        round += 1;
        await sh(worktree, 'reset', '-q', '--hard', headSha);
        expect(await stateOf(worktree)).toEqual(before);
      };
      await again();
      const kills = await killEverywhere(
        place,
        async () => expect(await end()).toEqual(wanted),
        async () => {
          await rm(join(place.adminDirectory, 'index.lock'), { force: true });
          expect(await end()).toEqual(wanted);
          expect(await contents(worktree)).toEqual(files);
          expect((await sh(worktree, 'symbolic-ref', 'HEAD')).trim()).toBe('refs/heads/board/task');
          expect(await sh(worktree, 'status', '--porcelain')).toBe('');
          await again();
        },
      );
      expectKills(kills, atLeast);
      expect(await primaryOf(repository)).toEqual(primary);
    });
  });

  describe('merging and pushing', () => {
    const author = { name: 'Ada', email: 'ada@example.org' };
    const place = (id: string) => ({
      repositoryPath: at.repository,
      integrationPath: join(at.insideDir, '.integrations', id),
      insideDir: at.insideDir,
      id,
    });
    const integrate = (headSha: string, baseSha: string, id: string) =>
      at.git.integrate({ ...place(id), headSha, baseSha, message: 'Merge board/task', author });
    const push = (mergedSha: string, expectedBaseSha: string) =>
      at.git.pushIntegration({
        repositoryPath: at.repository,
        baseBranch: 'main',
        mergedSha,
        expectedBaseSha,
        remote: 'origin',
      });

    it('killed anywhere, are brought to the same end by the next calls', async () => {
      const { git, repository, remote, baseSha } = at;
      await put(at.worktree, { 'src/work.txt': '1\n' });
      const headSha = await commit(at.worktree, 'Work');
      const primary = await primaryOf(repository);
      let id = 0;
      const all = async (): Promise<string> => {
        const merged = await integrate(headSha, baseSha, `op_${id}`);
        await push(merged.mergedSha, baseSha);
        await git.removeIntegration({ ...place(`op_${id}`), landed: true });
        return merged.mergedSha;
      };
      const kills = await killEverywhere(at.place, all, async () => {
        const mergedSha = await shaOf(remote, 'main');
        const pushed = mergedSha !== baseSha;
        if (pushed) {
          await git.removeIntegration({ ...place(`op_${id}`), landed: true });
        }
        const end = pushed ? mergedSha : await all();
        expect(await shaOf(remote, 'main')).toBe(end);
        expect(await shaOf(remote, 'main^2')).toBe(headSha);
        expect(await git.listWorktrees({ repositoryPath: repository })).toHaveLength(2);
        expect(await sh(repository, 'for-each-ref', 'refs/board')).toBe('');
        await sh(remote, 'update-ref', 'refs/heads/main', baseSha);
        id += 1;
      });
      expectKills(kills, { commands: 23, changes: 3 });
      expect(await primaryOf(repository)).toEqual(primary);
    });
  });
});

describe('a rewind', () => {
  let fixture: RewindableWorktree;
  let worktreePath: string;

  beforeEach(async () => {
    fixture = await aRewindableWorktree();
    worktreePath = fixture.worktree;
  });
  afterEach(() => fixture.directory.remove());

  it('killed anywhere, is brought to its end by the next call', async () => {
    const { target, state } = await fixture.workedOn();
    const place = {
      directory: fixture.directory.path,
      adminDirectory: join(fixture.request.repositoryPath, '.git/worktrees/task'),
    };
    let round = 0;
    const plan = async () => {
      const { before } = await fixture.git.previewRewind({ worktreePath, target });
      round += 1;
      return { worktreePath, id: `rewind_${round}`, before, target, decisions: new Map<string, RewindDecision>() };
    };
    let request = await plan();
    const kills = await killEverywhere(
      place,
      () => fixture.git.rewindWorkspace(request),
      async () => {
        expect((await fixture.git.rewindWorkspace(request)).leftBehind).toEqual([]);
        expect(await stateOf(worktreePath)).toEqual(state);
        expect((await sh(worktreePath, 'rev-parse', `refs/board/rewinds/${request.id}^{tree}`)).trim()).toBe(
          request.before.tree,
        );
        await fixture.work();
        request = await plan();
      },
    );
    expectKills(kills, { commands: 42, changes: 25 });
  });
});
