import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, contents, put, sh, stateOf } from './git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from './git-remote-fixture';

let at: CloneFixture;

beforeEach(async () => {
  at = await aClone();
});
afterEach(() => at.directory.remove());

const rebase = (ontoSha: string, id = 'op_01') =>
  at.git.rebaseOnto({ worktreePath: at.worktree, branch: 'board/task', ontoSha, id });

it('a branch is put onto the exact commit, its old head is kept', async () => {
  const { repository, worktree } = at;
  const { headSha, ontoSha } = await at.diverge();
  await put(worktree, { 'ignored/built': '1' });
  const primary = await primaryOf(repository);
  const done = await rebase(ontoSha);
  expect(done).toEqual({
    headSha: await shaOf(worktree, 'board/task'),
    previousHeadSha: headSha,
    rebased: true,
    backupRef: 'refs/board/rebased/op_01',
  });
  expect(await shaOf(repository, done.backupRef)).toBe(headSha);
  expect(await shaOf(worktree, 'HEAD~2')).toBe(ontoSha);
  expect(Object.keys(await contents(worktree))).toEqual(
    expect.arrayContaining(['src/one.txt', 'src/theirs.txt', 'ignored/built']),
  );
  expect(await rebase(ontoSha)).toEqual(done);
  expect(await rebase(ontoSha, 'op_02')).toMatchObject({ rebased: false, headSha: done.headSha });
  expect(await primaryOf(repository)).toEqual(primary);
});

it('a conflict names the files and leaves everything as it was', async () => {
  const { repository, worktree } = at;
  const { ontoSha } = await at.diverge({ 'src/a.txt': 'theirs\n', 'src/more.txt': '1' });
  const before = await stateOf(worktree);
  const primary = await primaryOf(repository);
  await expect(rebase(ontoSha)).rejects.toMatchObject({ code: 'merge-conflict', paths: ['src/a.txt'] });
  expect(await stateOf(worktree)).toEqual(before);
  expect(await sh(repository, 'for-each-ref', 'refs/board')).toBe('');
  expect(await primaryOf(repository)).toEqual(primary);
});

describe('it is refused', () => {
  it.each([
    ['with a changed file', () => put(at.worktree, { 'src/a.txt': 'changed' }), 'dirty'],
    [
      'with a hidden change',
      async () => {
        await sh(at.worktree, 'update-index', '--skip-worktree', 'src/b.txt');
        await put(at.worktree, { 'src/b.txt': 'changed' });
      },
      'dirty',
    ],
    ['with an untracked file', () => put(at.worktree, { new: '1' }), 'dirty'],
    ['on another branch', () => sh(at.worktree, 'checkout', '-q', '-b', 'other'), 'mismatch'],
    [
      'during a merge',
      async () => {
        await sh(at.worktree, 'branch', 'side', 'HEAD~1');
        await sh(at.worktree, 'merge', '-q', '--no-ff', '--no-commit', 'main');
      },
      'conflict',
    ],
  ])('%s', async (_, prepare, code) => {
    const { ontoSha } = await at.diverge();
    await commit(at.repository, 'Ahead');
    await prepare();
    const before = await stateOf(at.worktree);
    await expect(rebase(ontoSha)).rejects.toMatchObject({ code });
    expect(await stateOf(at.worktree)).toEqual(before);
  });

  it('in the primary checkout, onto what is no commit, and when the branch has moved since', async () => {
    const { ontoSha } = await at.diverge();
    const request = { worktreePath: at.repository, branch: 'main', ontoSha, id: 'op_01' };
    await expect(at.git.rebaseOnto(request)).rejects.toMatchObject({ code: 'outside' });
    for (const sha of ['main', '--exec=touch x', '0'.repeat(40)]) {
      await expect(rebase(sha)).rejects.toMatchObject({ code: expect.stringMatching(/unknown-ref|failed/) });
    }
    await sh(at.repository, 'update-ref', 'refs/board/rebased/op_01', at.baseSha);
    await expect(rebase(ontoSha)).rejects.toMatchObject({ code: 'stale' });
  });
});

it('no hook, editor, merge driver or setting of the repository takes part', async () => {
  const { worktree, repository, directory } = at;
  const program = join(directory.path, 'program');
  await writeFile(program, `#!/bin/sh\ntouch '${program}-ran'\nexit 1\n`);
  await chmod(program, 0o755);
  await put(worktree, { '.gitattributes': '*.txt merge=own\n', 'src/a.txt': 'a\nb\nc\nd\ne\n' });
  await commit(worktree, 'Attributes');
  await sh(worktree, 'push', '-q', 'origin', 'HEAD:main');
  await sh(worktree, 'branch', 'marker');
  await put(worktree, { 'src/a.txt': 'ours\nb\nc\nd\ne\n' });
  await commit(worktree, 'Ours');
  await at.advance({ 'src/a.txt': 'a\nb\nc\nd\ntheirs\n' });
  for (const hook of ['pre-rebase', 'post-checkout', 'post-rewrite', 'post-commit', 'reference-transaction']) {
    await writeFile(join(repository, '.git/hooks', hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  }
  for (const name of ['merge.own.driver', 'core.editor', 'sequence.editor', 'gpg.program', 'core.fsmonitor']) {
    await sh(repository, 'config', name, program);
  }
  for (const name of ['commit.gpgSign', 'rebase.updateRefs', 'rebase.autoStash', 'rerere.enabled']) {
    await sh(repository, 'config', name, 'true');
  }
  const marker = await shaOf(repository, 'marker');
  await rebase((await at.git.fetchBase(at.onBase)).sha);
  expect((await contents(worktree))['src/a.txt']).toBe(
    `- ${Buffer.from('ours\nb\nc\nd\ntheirs\n').toString('base64')}`,
  );
  expect(await shaOf(repository, 'marker')).toBe(marker);
  await expect(sh(directory.path, 'hash-object', `${program}-ran`)).rejects.toThrow();
});

it('a rebase whose worker died in the middle is ended, taken back and done', async () => {
  const { worktree, repository } = at;
  const { headSha, ontoSha } = await at.diverge();
  await sh(repository, 'update-ref', 'refs/board/rebased/op_01', headSha);
  // Stopped before its second commit, with half of the files of the new base changed by hand.
  await sh(worktree, '-c', 'sequence.editor=sed -i 1s/pick/edit/', 'rebase', '-q', '-i', ontoSha);
  await put(worktree, { 'src/b.txt': 'half\n', 'src/half.txt': 'half\n' });
  const environment = { ...process.env, BOARD_GIT_OPERATION: 'refs/board/rebased/op_01' };
  const orphan = spawn('sh', ['-c', 'read _ < /dev/zero; :'], { env: environment, stdio: 'ignore' });
  const gone = once(orphan, 'exit');
  expect(await rebase(ontoSha)).toMatchObject({ rebased: true, previousHeadSha: headSha });
  expect(await gone).toEqual([null, expect.stringMatching(/^SIG(?:TERM|KILL)$/)]);
  expect(await shaOf(worktree, 'HEAD~2')).toBe(ontoSha);
  expect(await sh(worktree, 'status', '--porcelain')).toBe('');
});
