import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RewindDecision } from '../../../contracts/runs/rewind';
import { aRewindableWorktree, commit, contents, put, type RewindableWorktree, sh, stateOf } from './git-fixture';

let fixture: RewindableWorktree;
let worktreePath: string;

describe('worktree rewind', () => {
  beforeEach(async () => {
    fixture = await aRewindableWorktree();
    worktreePath = fixture.worktree;
  });
  afterEach(() => fixture.directory.remove());

  const text = (path: string) => readFile(join(worktreePath, path), 'utf8');

  async function back(
    target: Awaited<ReturnType<RewindableWorktree['capture']>>,
    decisions: Record<string, RewindDecision> = {},
  ) {
    const { before } = await fixture.git.previewRewind({ worktreePath, target });
    const request = { worktreePath, id: 'rewind_1', before, target, decisions: new Map(Object.entries(decisions)) };
    return { request, before, result: await fixture.git.rewindWorkspace(request) };
  }

  test('everything goes back: files, index, HEAD; and what was there is kept', async () => {
    const { target, state } = await fixture.workedOn();
    const { before, result } = await back(target);
    expect(await stateOf(worktreePath)).toEqual(state);
    expect(result).toMatchObject({ ref: 'refs/board/rewinds/rewind_1', leftBehind: [] });
    expect(result.after).toEqual({
      tree: target.tree,
      indexTree: target.indexTree,
      headSha: target.headSha,
      branch: 'board/task',
    });
    expect((await sh(worktreePath, 'rev-parse', `${result.ref}^{tree}`)).trim()).toBe(before.tree);
    expect((await sh(worktreePath, 'rev-parse', `${result.ref}^1`)).trim()).toBe(before.headSha);
  });

  test('paths are rejected or left untouched one by one', async () => {
    await put(worktreePath, { 'src/a.txt': 'one\n', 'src/b.txt': 'one\n', 'c.txt': 'one\n' });
    await sh(worktreePath, 'add', '-A');
    const target = await fixture.capture(1);
    await put(worktreePath, { 'src/a.txt': 'two\n', 'src/b.txt': 'two\n', 'c.txt': 'two\n' });
    await sh(worktreePath, 'add', '-A');
    const { result } = await back(target, { 'src/b.txt': 'reject', 'c.txt': 'leave-untouched' });
    expect(result.leftBehind).toEqual([]);
    expect([await text('src/a.txt'), await text('src/b.txt'), await text('c.txt')]).toEqual([
      'one\n',
      'two\n',
      'two\n',
    ]);
    expect(await sh(worktreePath, 'show', ':src/a.txt')).toBe('one\n');
    expect(await sh(worktreePath, 'show', ':src/b.txt')).toBe('one\n');
    expect(await sh(worktreePath, 'show', ':c.txt')).toBe('two\n');
  });

  test('it resumes wherever it stopped, and concurrent writes are left alone', async () => {
    const { target, state } = await fixture.workedOn();
    const { request } = await back(target);
    // As if it had stopped halfway: one file is as it was before, and another one was changed since.
    await mkdir(join(worktreePath, 'new/deep'), { recursive: true });
    await writeFile(join(worktreePath, 'new/deep/file.txt'), 'new\n');
    expect((await fixture.git.rewindWorkspace(request)).leftBehind).toEqual([]);
    expect(await stateOf(worktreePath)).toEqual(state);
    await put(worktreePath, { 'src/b.txt': 'by hand\n' });
    expect((await fixture.git.rewindWorkspace(request)).leftBehind).toEqual(['src/b.txt']);
    expect(await text('src/b.txt')).toBe('by hand\n');
  });

  test('ignored files stay, and a commit that came in between stops it', async () => {
    await put(worktreePath, { 'src/a.txt': 'one\n', 'ignored/x': 'x' });
    const target = await fixture.capture(1);
    await put(worktreePath, { 'src/a.txt': 'two\n' });
    const { request } = await back(target);
    expect(await contents(worktreePath)).toHaveProperty('ignored/x');
    await commit(worktreePath, 'Somebody else');
    await expect(fixture.git.rewindWorkspace(request)).rejects.toMatchObject({ code: 'conflict' });
  });
});
