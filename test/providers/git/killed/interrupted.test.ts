import { join } from 'node:path';
import { aWorktree, commit, type GitFixture, put, sh, stateOf } from '../git-fixture';
import { expectKills, killEverywhere } from './git-killer';

const attemptId = 'attempt_killed01';
let at: GitFixture;
let place: { directory: string; adminDirectory: string };

describe('interrupted git operations', () => {
  beforeEach(async () => {
    at = await aWorktree();
    place = { directory: at.directory.path, adminDirectory: join(at.repository, '.git/worktrees/task') };
  });
  afterEach(() => at.directory.remove());

  it('a worktree is made whole wherever its making was killed', async () => {
    const { git, repository, worktree, request } = at;
    const wanted = await stateOf(worktree);
    await sh(repository, 'worktree', 'remove', '--force', worktree);
    const kills = await killEverywhere(
      place,
      () => git.ensureWorktree(request),
      async () => {
        await git.ensureWorktree(request);
        expect(await stateOf(worktree)).toEqual(wanted);
        await sh(repository, 'worktree', 'remove', '--force', worktree);
        await sh(repository, 'branch', '-D', request.branch);
      },
    );
    expectKills(kills, { commands: 7, changes: 5 });
  });

  it('a worktree is restored wherever that was killed, and what the attempt left is not replaced by half of it', async () => {
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
      place,
      () => git.restoreBaseline({ worktreePath: worktree, baseline }),
      async () => {
        expect(await git.preserveAttempt({ worktreePath: worktree, attemptId, baseline })).toEqual(kept);
        await git.restoreBaseline({ worktreePath: worktree, baseline });
        expect(await stateOf(worktree)).toEqual(wanted);
        await work();
      },
    );
    expectKills(kills, { commands: 18, changes: 0 });
  });
});
