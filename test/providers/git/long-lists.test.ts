import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aWorktree, commit, type GitFixture, put, sh } from './git-fixture';

const attemptId = 'attempt_abcd1234';
/** As much as a record may have of one list, with room for what is beside the paths. */
const most = 400_000;
let at: GitFixture;

beforeEach(async () => {
  at = await aWorktree();
});
afterEach(() => at.directory.remove());

const capture = () => at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
const putLong = (): Promise<void> => {
  const directory = Array.from({ length: 12 }, () => 'd'.repeat(250)).join('/');
  return put(at.worktree, Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${directory}/${n}`, `${n}`])));
};

describe('what is listed of a worktree', () => {
  it('has no more paths than a record holds, however long they are', async () => {
    const baseline = await capture();
    await putLong();
    const changes = await at.git.collectChanges({ worktreePath: at.worktree, baseline });
    expect(changes.truncated).toBe(true);
    expect(changes.changedFiles.length).toBeGreaterThan(50);
    expect(JSON.stringify(changes).length).toBeLessThan(most);

    const dirty = await capture();
    expect(dirty.truncated).toBe(true);
    expect(JSON.stringify(dirty).length).toBeLessThan(most);
  });

  it('has what is foremost where not all is listed', async () => {
    const baseline = await capture();
    await putLong();
    await put(at.worktree, { zzz: 'z' });
    await sh(at.worktree, 'mv', 'src/b.txt', 'z-moved');
    const isForemost = (path: string) => path === 'zzz' || path === 'src/b.txt';
    const { changedFiles } = await at.git.collectChanges({ worktreePath: at.worktree, baseline, isForemost });
    expect(changedFiles.slice(0, 2).map(({ path }) => path)).toEqual(['z-moved', 'zzz']);
    expect(changedFiles.length).toBeGreaterThan(50);
  });

  it('has the beginning of the subject of a commit, however long that is', async () => {
    const baseline = await capture();
    const message = join(at.directory.path, 'message');
    await writeFile(message, `é${'long '.repeat(1_000_000)}\n\nbody`);
    await sh(at.worktree, 'commit', '-q', '--allow-empty', '-F', message);
    await commit(at.worktree, 'Short  subject');
    const { commits } = await at.git.collectChanges({ worktreePath: at.worktree, baseline });
    expect(commits.map(({ subject }) => subject)).toEqual(['Short  subject', expect.stringMatching(/^élong long /)]);
    expect(commits[1]?.subject.length).toBeLessThanOrEqual(500);
  });
});
