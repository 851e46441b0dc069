import type { Stopped, StoppedRebase } from '../../../../contracts/runs/conflict';
import { commit, contents, put, sh, stateOf } from '../git-fixture';
import { primaryOf, shaOf } from '../git-remote-fixture';
import { expectKills, killEverywhere } from '../killed/git-killer';
import { aConflict, type ConflictFixture } from './conflict-fixture';

let at: ConflictFixture;

beforeEach(async () => {
  at = await aConflict();
});
afterEach(() => at.directory.remove());

describe('killed anywhere', () => {
  it('a continued rebase of several commits is brought to the same end by the next call', async () => {
    const { worktree, place, repository } = at;
    for (const name of ['a', 'b', 'c', 'd']) {
      await put(worktree, { [`src/${name}.txt`]: `${name} of the branch\n` });
      await commit(worktree, `Change ${name}`);
    }
    await at.advance({ 'src/a.txt': 'theirs\n', 'src/x.txt': 'x\n' });
    const { sha: ontoSha } = await at.git.fetchBase(at.onBase);
    const branchSha = await shaOf(worktree, 'board/task');
    const primary = await primaryOf(repository);
    let round = 0;
    const stopAndResolve = async (): Promise<StoppedRebase> => {
      await sh(worktree, 'reset', '-q', '--hard', branchSha);
      await at.rebase(ontoSha, `op_${round}`);
      await at.resolve('src/a.txt', 'manual', 'resolved\n');
      await put(worktree, { 'beside.txt': 'part of the resolution\n' });
      return at.stopped<StoppedRebase>();
    };
    let from = await stopAndResolve();
    const request = () => ({ ...at.recorded, id: `go_${round}`, stopped: from });
    const kills = await killEverywhere(
      place,
      () => at.git.conflicts.continueRebase(request()),
      async () => {
        expect(await at.git.conflicts.continueRebase(request())).toMatchObject({ ended: 'done' });
        expect(await sh(worktree, 'log', '--format=%s', `${ontoSha}..board/task`)).toBe(
          'Change d\nChange c\nChange b\nChange a\n',
        );
        expect(await sh(worktree, 'show', 'HEAD:src/a.txt', 'HEAD:beside.txt')).toBe(
          'resolved\npart of the resolution\n',
        );
        expect(await sh(worktree, 'status', '--porcelain=v2', '--branch')).toMatch(
          /^# branch.oid .*\n# branch.head board\/task\n$/,
        );
        expect(await primaryOf(repository)).toEqual(primary);
        round += 1;
        from = await stopAndResolve();
      },
    );
    expectKills(kills, { commands: 28, changes: 10 });
  });

  it('an abort is brought to the same end by the next call', async () => {
    const { worktree, place } = at;
    const { ontoSha } = await at.diverge({ 'src/a.txt': 'theirs\n' });
    const before = await stateOf(worktree);
    let round = 0;
    const again = async (): Promise<Stopped> => {
      await at.rebase(ontoSha, `op_${round}`);
      return at.stopped();
    };
    let from = await again();
    const request = () => ({ ...at.recorded, id: `go_${round}`, stopped: from });
    const kills = await killEverywhere(
      place,
      () => at.git.conflicts.abort(request()),
      async () => {
        const { ref } = await at.git.conflicts.abort(request());
        expect(await stateOf(worktree)).toEqual(before);
        expect(await sh(worktree, 'show', `${ref}:src/a.txt`)).toContain('<<<<<<<');
        round += 1;
        from = await again();
      },
    );
    expectKills(kills, { commands: 19, changes: 9 });
  });

  it.each([
    ['a version', 'theirs', undefined, 'ours\n'],
    ['a text', 'manual', 'both\n', 'both\n'],
  ] as const)(
    'a resolution by %s is brought to the same end by the next call',
    async (_, resolution, text, content) => {
      const { worktree, place } = at;
      const { ontoSha } = await at.stop();
      const decided = { ...at.recorded, path: 'src/a.txt', resolution, hasText: text !== undefined };
      const target = await at.git.conflicts.decide(decided);
      let round = 0;
      const kills = await killEverywhere(
        place,
        () => at.git.conflicts.resolve({ ...at.recorded, path: 'src/a.txt', target, text }),
        async () => {
          await at.git.conflicts.resolve({ ...at.recorded, path: 'src/a.txt', target, text });
          expect((await contents(worktree))['src/a.txt']).toBe(`- ${Buffer.from(content).toString('base64')}`);
          expect(await at.git.conflicts.list(at.recorded)).toMatchObject({ hasConflicts: false });
          round += 1;
          await at.git.conflicts.abort({ ...at.recorded, id: `go_${round}`, stopped: await at.stopped() });
          await at.rebase(ontoSha, `again_${round}`);
        },
      );
      expectKills(kills, { commands: 5, changes: 0 });
    },
  );
});
