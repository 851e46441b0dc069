import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, put, sh } from './git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from './git-remote-fixture';

let at: CloneFixture;

beforeEach(async () => {
  at = await aClone();
});
afterEach(() => at.directory.remove());

const author = { name: 'Ada', email: 'ada@example.org' };
const place = (id = 'op_01') => ({
  repositoryPath: at.repository,
  integrationPath: join(at.insideDir, '.integrations', id),
  insideDir: at.insideDir,
  id,
});

async function work(files: Record<string, string> = { 'src/work.txt': '1\n' }): Promise<string> {
  await put(at.worktree, files);
  return commit(at.worktree, 'Work');
}

const integrate = (headSha: string, baseSha: string, id?: string) =>
  at.git.integrate({ ...place(id), headSha, baseSha, message: 'Merge board/task', author });
const push = (mergedSha: string, expectedBaseSha: string, remote: { remote?: string } = { remote: 'origin' }) =>
  at.git.pushIntegration({ repositoryPath: at.repository, baseBranch: 'main', mergedSha, expectedBaseSha, ...remote });

it('a branch is merged beside the primary checkout and pushed to the base', async () => {
  const { git, repository, remote, advance, onBase } = at;
  const headSha = await work();
  const baseSha = await advance({ 'src/theirs.txt': '1\n' });
  await git.fetchBase(onBase);
  const primary = await primaryOf(repository);
  const { mergedSha, alreadyMerged } = await integrate(headSha, baseSha);
  expect(alreadyMerged).toBe(false);
  expect(await shaOf(place().integrationPath, 'HEAD')).toBe(mergedSha);
  const facts = await sh(repository, 'log', '-1', '--format=%P|%an <%ae>|%B', mergedSha);
  expect(facts).toBe(`${baseSha} ${headSha}|Ada <ada@example.org>|Merge board/task\n\n`);
  expect(await sh(repository, 'ls-tree', '-r', '--name-only', mergedSha)).toMatch(/src\/theirs\.txt\nsrc\/work\.txt/);
  expect(await integrate(headSha, baseSha)).toEqual({ mergedSha, alreadyMerged });

  expect(await push(mergedSha, baseSha)).toEqual({ alreadyPushed: false });
  expect(await shaOf(remote, 'main')).toBe(mergedSha);
  expect(await shaOf(repository, 'origin/main')).toBe(mergedSha);
  expect(await push(mergedSha, baseSha)).toEqual({ alreadyPushed: true });
  await advance({ later: '1' });
  expect(await push(mergedSha, baseSha)).toEqual({ alreadyPushed: true });
  expect(await integrate(headSha, mergedSha, 'op_02')).toEqual({ mergedSha, alreadyMerged: true });

  await git.removeIntegration({ ...place(), landed: true });
  await git.removeIntegration({ ...place(), landed: true });
  expect(await sh(repository, 'for-each-ref', 'refs/board')).toBe('');
  expect(await git.listWorktrees({ repositoryPath: repository })).toHaveLength(2);
  expect(await primaryOf(repository)).toEqual(primary);
});

it('a conflict names the files, and nothing is left of the integration', async () => {
  const { git, repository, advance, onBase } = at;
  const headSha = await work({ 'src/a.txt': 'ours\n', 'dir/ü x': '1\n' });
  const baseSha = await advance({ 'src/a.txt': 'theirs\n', 'dir/ü x': '2\n' });
  await git.fetchBase(onBase);
  await expect(integrate(headSha, baseSha)).rejects.toMatchObject({
    code: 'merge-conflict',
    paths: ['dir/ü x', 'src/a.txt'],
  });
  expect(await git.listWorktrees({ repositoryPath: repository })).toHaveLength(2);
  expect(await sh(repository, 'for-each-ref', 'refs/board')).toBe('');
  await expect(sh(place().integrationPath, 'status')).rejects.toThrow();
});

it('attributes count, programs of the repository do not', async () => {
  const { repository, directory, worktree } = at;
  const program = join(directory.path, 'program');
  await writeFile(program, `#!/bin/sh\ntouch '${program}-ran'\nexit 1\n`);
  await chmod(program, 0o755);
  await put(worktree, { '.gitattributes': 'list merge=union\n*.txt merge=own filter=own\n', list: 'a\n' });
  const baseSha = await commit(worktree, 'Attributes');
  await put(worktree, { list: 'a\nours\n', 'src/a.txt': 'ours\n' });
  const ours = await commit(worktree, 'Ours');
  await sh(worktree, 'checkout', '-q', '-b', 'theirs', baseSha);
  await put(worktree, { list: 'a\ntheirs\n', 'src/b.txt': 'theirs\n' });
  const theirs = await commit(worktree, 'Theirs');
  for (const name of ['merge.own.driver', 'filter.own.smudge', 'filter.own.clean', 'diff.external']) {
    await sh(repository, 'config', name, program);
  }
  for (const hook of ['post-checkout', 'pre-merge-commit', 'pre-push', 'reference-transaction']) {
    await writeFile(join(repository, '.git/hooks', hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  }
  await sh(repository, '-c', 'core.hooksPath=/dev/null', 'push', '-q', 'origin', `${theirs}:main`);
  const { mergedSha } = await integrate(ours, theirs);
  expect(await sh(repository, 'show', `${mergedSha}:list`)).toBe('a\ntheirs\nours\n');
  expect(await push(mergedSha, theirs)).toEqual({ alreadyPushed: false });
  await expect(sh(directory.path, 'hash-object', `${program}-ran`)).rejects.toThrow();
});

it('two merges beside each other do not meet', async () => {
  const headSha = await work();
  const merges = await Promise.all(['op_01', 'op_02', 'op_03'].map((id) => integrate(headSha, at.baseSha, id)));
  for (const { mergedSha } of merges) {
    expect(await shaOf(at.repository, `${mergedSha}^2`)).toBe(headSha);
  }
});

it('it is only ever made where it belongs', async () => {
  const { git, insideDir, repository, worktree, directory } = at;
  const headSha = await work();
  const request = { ...place(), headSha, baseSha: at.baseSha, message: 'Merge', author };
  for (const integrationPath of [repository, directory.path, insideDir, 'relative']) {
    await expect(git.integrate({ ...request, integrationPath })).rejects.toMatchObject({ code: 'outside' });
  }
  await expect(git.integrate({ ...request, integrationPath: worktree })).rejects.toMatchObject({ code: 'conflict' });
  await expect(git.removeIntegration({ ...place(), integrationPath: worktree, landed: false })).rejects.toMatchObject({
    code: 'conflict',
  });
  await mkdir(place().integrationPath, { recursive: true });
  await put(place().integrationPath, { precious: '1' });
  await expect(git.integrate(request)).rejects.toMatchObject({ code: 'conflict' });
});

describe('a push', () => {
  it('never goes over what came meanwhile', async () => {
    const { advance, remote } = at;
    const { mergedSha } = await integrate(await work(), at.baseSha);
    const theirs = await advance({ theirs: '1' });
    await expect(push(mergedSha, at.baseSha)).rejects.toMatchObject({ code: 'push-rejected' });
    await expect(push(mergedSha, theirs)).rejects.toMatchObject({ code: 'push-rejected' });
    expect(await shaOf(remote, 'main')).toBe(theirs);
  });

  it('does not bring back what was taken back', async () => {
    const { advance, remote, git, onBase, baseSha } = at;
    const later = await advance({ theirs: '1' });
    await git.fetchBase(onBase);
    const { mergedSha } = await integrate(await work(), later);
    await sh(remote, 'update-ref', 'refs/heads/main', baseSha);
    await expect(push(mergedSha, later)).rejects.toMatchObject({ code: 'push-rejected' });
    await sh(remote, 'update-ref', '-d', 'refs/heads/main');
    await expect(push(mergedSha, later)).rejects.toMatchObject({ code: 'push-rejected' });
  });

  it('reports why the remote refused', async () => {
    const { remote, repository } = at;
    const { mergedSha } = await integrate(await work(), at.baseSha);
    const hook = '#!/bin/sh\necho "main is frozen" >&2\nexit 1\n';
    await writeFile(join(remote, 'hooks/pre-receive'), hook, { mode: 0o755 });
    await expect(push(mergedSha, at.baseSha)).rejects.toMatchObject({
      code: 'push-failed',
      message: expect.stringContaining('main is frozen'),
    });
    await sh(repository, 'config', 'remote.origin.pushurl', 'ext::sh -c x');
    await at.configure();
    await expect(push(mergedSha, at.baseSha)).rejects.toMatchObject({ code: 'unknown-remote' });
  });
});

describe('without a remote', () => {
  it('the local base is moved when no worktree has it checked out', async () => {
    const { repository, baseSha } = at;
    const headSha = await work();
    const { mergedSha } = await integrate(headSha, baseSha);
    const primary = await primaryOf(repository);
    await expect(push(mergedSha, baseSha, {})).rejects.toMatchObject({ code: 'checked-out' });
    expect(await primaryOf(repository)).toEqual(primary);
    expect(await shaOf(repository, 'main')).toBe(baseSha);

    await sh(repository, 'checkout', '-q', '-b', 'elsewhere');
    const elsewhere = await primaryOf(repository);
    expect(await push(mergedSha, baseSha, {})).toEqual({ alreadyPushed: false });
    expect(await shaOf(repository, 'main')).toBe(mergedSha);
    expect(await push(mergedSha, baseSha, {})).toEqual({ alreadyPushed: true });
    expect(await primaryOf(repository)).toEqual(elsewhere);
    await sh(repository, 'branch', '-f', 'main', headSha);
    await expect(push(mergedSha, baseSha, {})).rejects.toMatchObject({ code: 'push-rejected' });
  });
});
