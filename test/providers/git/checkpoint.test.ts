import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathInWorktree } from '../../../providers/git/checkpoints/checkpoint';
import { fileObject } from '../../../providers/git/files/file-object';
import { aWorktree, commit, put, sh, stateOf } from './git-fixture';

type Fixture = Awaited<ReturnType<typeof aWorktree>>;
let fixture: Fixture;
let worktreePath: string;
const attemptId = 'attempt_12345678';

describe('worktree checkpoint', () => {
  beforeEach(async () => {
    fixture = await aWorktree();
    worktreePath = fixture.request.worktreePath;
    await fixture.git.ensureWorktree(fixture.request);
  });
  afterEach(() => fixture.directory.remove());

  const capture = (number: number, since: { tree: string; headSha: string; indexTree?: string }) =>
    fixture.git.captureCheckpoint({ worktreePath, attemptId, number, since });
  const beginning = () => ({ tree: fixture.request.baseSha, headSha: fixture.request.baseSha });

  test('a checkpoint holds files and index outside of every branch, and touches neither', async () => {
    await put(worktreePath, { 'src/a.txt': 'staged\n' });
    await sh(worktreePath, 'add', 'src/a.txt');
    await put(worktreePath, { 'src/a.txt': 'changed\n', 'new file.txt': 'new\n', 'ignored/x': 'x' });
    await rm(join(worktreePath, 'src/b.txt'));
    const before = await stateOf(worktreePath);

    const kept = await capture(1, beginning());
    expect(await stateOf(worktreePath)).toEqual(before);
    expect(kept).toMatchObject({ ref: `refs/board/checkpoints/${attemptId}/1`, headSha: fixture.request.baseSha });
    expect(kept!.changes.map(({ path, status }) => `${status} ${path}`)).toEqual([
      'added new file.txt',
      'modified src/a.txt',
      'deleted src/b.txt',
    ]);
    expect(await sh(worktreePath, 'show', `${kept!.ref}:src/a.txt`)).toBe('changed\n');
    expect(await sh(worktreePath, 'show', `${kept!.ref}^2:src/a.txt`)).toBe('staged\n');
    expect(await sh(worktreePath, 'branch', '--contains', kept!.commit)).toBe('');
  });

  test('nothing different is no checkpoint; a moved HEAD or another index is one', async () => {
    expect(await capture(1, beginning())).toBeUndefined();
    await put(worktreePath, { 'a.txt': 'a' });
    const first = (await capture(1, beginning()))!;
    expect(await capture(2, first)).toBeUndefined();
    await sh(worktreePath, 'add', 'a.txt');
    const second = (await capture(2, first))!;
    expect(second).toMatchObject({ tree: first.tree, changes: [] });
    const head = await commit(worktreePath, 'Commit');
    expect(await capture(3, second)).toMatchObject({ tree: first.tree, headSha: head, changes: [] });
  });

  test('an unfinished merge with conflicts is refused', async () => {
    await put(worktreePath, { 'src/a.txt': 'theirs\n' });
    await sh(worktreePath, 'checkout', '-q', '-b', 'other');
    await commit(worktreePath, 'Other');
    await sh(worktreePath, 'checkout', '-q', 'board/task');
    await put(worktreePath, { 'src/a.txt': 'ours\n' });
    await commit(worktreePath, 'Ours');
    await sh(worktreePath, 'merge', 'other').catch(() => undefined);
    await expect(capture(1, beginning())).rejects.toMatchObject({ code: 'conflict' });
  });

  test('the object of a file is the one git makes of it, and nothing outside is read', async () => {
    await put(worktreePath, { 'src/a.txt': 'changed\n' });
    const like = fixture.request.baseSha;
    const object = (await sh(worktreePath, 'hash-object', 'src/a.txt')).trim();
    expect(await fileObject(worktreePath, 'src/a.txt', like)).toBe(object);
    expect(await fileObject(worktreePath, 'gone.txt', like)).toBeNull();
    expect(await fileObject(worktreePath, 'src', like)).toBeUndefined();
    await symlink('/etc', join(worktreePath, 'elsewhere'));
    expect(await fileObject(worktreePath, 'elsewhere/hostname', like)).toBeUndefined();

    expect(pathInWorktree('/w', 'a/../b')).toBe('b');
    expect(pathInWorktree('/w', '/w/a')).toBe('a');
    for (const path of ['../x', '/etc/passwd', '.', '.git/config', 'a\0b']) {
      expect(pathInWorktree('/w', path)).toBeUndefined();
    }
  });
});
