import { chmod, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestedRevision } from '../../../../contracts/runs/diff';
import type { DiffRequest } from '../../../../providers/git/diff/read-diff';
import { aWorktree, commit, put, sh, stateOf } from '../git-fixture';

type Fixture = Awaited<ReturnType<typeof aWorktree>>;
let fixture: Fixture;
let path: string;

beforeEach(async () => {
  fixture = await aWorktree();
  path = fixture.request.worktreePath;
  await fixture.git.ensureWorktree(fixture.request);
});
afterEach(() => fixture.directory.remove());

const everything = { offset: 0, limit: 1_000 };

function request(fields: Partial<DiffRequest> = {}): DiffRequest {
  const { repositoryPath, branch, baseSha } = fixture.request;
  const context = { repositoryPath, branch, baseSha, baseBranch: 'main', tips: [] };
  return {
    ...context,
    worktree: { worktreePath: path },
    from: { kind: 'merge-base' },
    to: { kind: 'worktree' },
    ...fields,
  };
}
const list = (fields: Partial<DiffRequest> = {}, part = everything) => fixture.git.diffs.list(request(fields), part);
const lines = async (name: string, fields: Partial<DiffRequest> = {}) =>
  (await fixture.git.diffs.file(request(fields), name)).files[0]!;
const blob = async (name: string, to: RequestedRevision = { kind: 'worktree' }) =>
  Buffer.from((await fixture.git.diffs.blob(request({ to }), name)).content, 'base64').toString();
const objects = () => sh(fixture.request.repositoryPath, 'count-objects');

describe('the diff of a worktree', () => {
  it('has what is committed, changed, untracked, moved and gone, and writes nothing', async () => {
    await put(path, { 'src/a.txt': 'a\nb\n', 'kept.txt': 'one\ntwo\nthree\nfour\n' });
    await commit(path, 'Work');
    await rename(join(path, 'kept.txt'), join(path, 'moved.txt'));
    await rm(join(path, 'src/b.txt'));
    await put(path, { 'new.bin': Buffer.from([0, 1, 2]), 'ignored/x': 'x', 'README.md': '# Sample\nmore\n' });
    await chmod(join(path, 'src/a.txt'), 0o755);
    const before = [await stateOf(path), await objects()];
    const diff = await list();
    expect([await stateOf(path), await objects()]).toEqual(before);
    expect(diff).toMatchObject({ totalFiles: 5, totalAdditions: 6, totalDeletions: 1, to: { commit: null } });
    expect(diff.from.commit).toBe(fixture.request.baseSha);
    expect(diff.files).toMatchObject([
      { path: 'README.md', status: 'modified', additions: 1, deletions: 0, binary: false },
      { path: 'moved.txt', status: 'added', additions: 4 },
      { path: 'new.bin', status: 'added', binary: true, additions: 0, newMode: '100644' },
      { path: 'src/a.txt', status: 'modified', oldMode: '100644', newMode: '100755' },
      { path: 'src/b.txt', status: 'deleted', deletions: 1 },
    ]);
    expect(await list({ from: { kind: 'head' } })).toMatchObject({
      files: expect.arrayContaining([
        expect.objectContaining({ path: 'moved.txt', oldPath: 'kept.txt', status: 'renamed', additions: 0 }),
      ]),
    });
  });

  it('shows lines with their numbers, and where a file has no line end', async () => {
    await put(path, { 'src/a.txt': 'x\na', 'src/c.ts': 'one\r\ntwo\n' });
    expect(await lines('src/a.txt')).toMatchObject({
      language: 'text',
      additions: 2,
      deletions: 1,
      hunks: [
        {
          oldStart: 1,
          oldLines: 1,
          newStart: 1,
          newLines: 2,
          lines: [
            { type: 'delete', content: 'a', oldNumber: 1 },
            { type: 'add', content: 'x', newNumber: 1 },
            { type: 'add', content: 'a', newNumber: 2, noNewline: true },
          ],
        },
      ],
    });
    expect(await lines('src/c.ts')).toMatchObject({
      language: 'typescript',
      hunks: [
        { oldStart: 0, oldLines: 0, newStart: 1, newLines: 2, lines: [{ content: 'one\r' }, { content: 'two' }] },
      ],
    });
    await expect(lines('README.md')).rejects.toMatchObject({ code: 'unknown-path' });
  });

  it.each([
    ' a b',
    '"quoted"',
    'line\nend',
    'tab\there',
    'ü—日本',
    '-rf',
    ':(top)x',
    '*.txt',
    'a => b',
    '{x => y}',
    '@@ -1 +1 @@',
  ])('has the file %j', async (name) => {
    await put(path, { [name]: 'one\ntwo\nthree\n', 'other.txt': 'x\n' });
    await commit(path, 'Named');
    await rename(join(path, name), join(path, `${name}2`));
    expect((await list({ to: { kind: 'head' } })).files.map((file) => file.path)).toContain(name);
    expect(await lines(`${name}2`, { from: { kind: 'head' } })).toMatchObject({
      oldPath: name,
      status: 'renamed',
      hunks: [],
    });
    expect(await blob(name, { kind: 'head' })).toBe('one\ntwo\nthree\n');
    expect(await blob(`${name}2`)).toBe('one\ntwo\nthree\n');
  });

  it('is read in pages', async () => {
    await put(path, Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`f${n}.txt`, `${n}\n`])));
    const page = await list({}, { offset: 1, limit: 2 });
    expect(page.files.map((file) => file.path)).toEqual(['f1.txt', 'f2.txt']);
    expect(page.totalFiles).toBe(5);
    const full = await fixture.git.diffs.full(request(), { offset: 3, limit: 9 });
    expect(full.files.map((file) => file.path)).toEqual(['f3.txt', 'f4.txt']);
  });

  it('marks files that are too large, and cuts long ones', async () => {
    await put(path, { 'long.txt': 'a line\n'.repeat(200_000), 'wide.txt': 'x'.repeat(3 << 20) });
    await writeFile(join(path, 'huge.bin'), Buffer.alloc(17 << 20, 'h'));
    expect((await list()).files).toMatchObject([
      { path: 'huge.bin', cut: 'file-too-large', additions: 0 },
      { path: 'long.txt', additions: 200_000 },
      { path: 'wide.txt', additions: 1 },
    ]);
    const long = await lines('long.txt');
    expect(long.cut).toBe('too-many-lines');
    expect(long.hunks[0]!.newLines).toBe(long.hunks[0]!.lines.length);
    expect(JSON.stringify(long).length).toBeLessThan(1_200_000);
    expect(await lines('wide.txt')).toMatchObject({ cut: 'file-too-large', hunks: [] });
    await expect(blob('wide.txt')).rejects.toMatchObject({ code: 'too-large' });
    await expect(blob('huge.bin')).rejects.toMatchObject({ code: 'too-large' });
    const full = await fixture.git.diffs.full(request(), everything);
    // The next one does not fit beside it, and is cut on a page of its own.
    expect(full.files.map((file) => file.path)).toEqual(['huge.bin']);
  });

  it('compares checkpoints, commits of the task and the present base', async () => {
    await put(path, { 'one.txt': '1\n' });
    const first = await commit(path, 'First');
    const since = { tree: first, headSha: first };
    await put(path, { 'two.txt': '2\n' });
    const kept = (await fixture.git.captureCheckpoint({
      worktreePath: path,
      attemptId: 'attempt_12345678',
      number: 1,
      since,
    }))!;
    await rm(join(path, 'two.txt'));
    const stored = { kind: 'stored', commit: kept.commit } as const;
    expect((await list({ from: { kind: 'commit', commit: first }, to: stored })).files).toMatchObject([
      { path: 'two.txt', status: 'added' },
    ]);
    expect((await list({ from: stored })).files).toMatchObject([{ path: 'two.txt', status: 'deleted' }]);
    expect(await blob('two.txt', stored)).toBe('2\n');
    await put(fixture.request.repositoryPath, { 'main.txt': 'main\n' });
    await commit(fixture.request.repositoryPath, 'On main');
    expect((await list({ from: { kind: 'base' } })).files).toMatchObject([{ path: 'one.txt' }]);
  });

  it('of a branch whose worktree is gone has its commits', async () => {
    await put(path, { 'one.txt': '1\n' });
    await commit(path, 'First');
    expect((await list({ worktree: undefined, to: { kind: 'head' } })).files).toMatchObject([{ path: 'one.txt' }]);
    await expect(list({ worktree: undefined })).rejects.toMatchObject({ code: 'unknown-ref' });
  });

  it('of an unfinished merge shows the conflict in the file', async () => {
    await put(path, { 'src/a.txt': 'ours\n' });
    const ours = await commit(path, 'Ours');
    await sh(path, 'checkout', '-q', '-b', 'other', fixture.request.baseSha);
    await put(path, { 'src/a.txt': 'theirs\n' });
    await commit(path, 'Theirs');
    await sh(path, 'merge', '-q', ours).catch(() => undefined);
    expect((await lines('src/a.txt')).hunks[0]!.lines.map(({ content }) => content)).toContain('=======');
  });
});

describe('the diff of a hostile worktree', () => {
  const secret = 'secret of another repository\n';

  /** A repository that may not be read by way of this one; returns a commit of it. */
  async function anotherRepository() {
    const other = join(fixture.directory.path, 'other');
    await sh(fixture.directory.path, 'init', '-q', '-b', 'main', other);
    await put(other, { 'secret.txt': secret });
    return { other, foreign: await commit(other, 'Secret') };
  }
  const stolen = (foreign: string) =>
    ({ from: { kind: 'merge-base' }, to: { kind: 'stored', commit: foreign } }) as const;

  it('reads no objects of an alternate that was added', async () => {
    const { other, foreign } = await anotherRepository();
    await writeFile(
      join(fixture.request.repositoryPath, '.git/objects/info/alternates'),
      `${join(other, '.git/objects')}\n`,
    );
    await expect(list(stolen(foreign))).rejects.toMatchObject({ code: 'unknown-ref' });
    await expect(list({ to: { kind: 'commit', commit: foreign } })).rejects.toMatchObject({ code: 'unknown-ref' });
    await sh(path, 'reset', '-q', '--hard', foreign);
    await expect(blob('secret.txt', { kind: 'head' })).rejects.toThrow();
    await expect(list()).rejects.toThrow();
  });

  it('reads the objects of an alternate that the repository was configured with', async () => {
    const { other, foreign } = await anotherRepository();
    const { repositoryPath } = fixture.request;
    await writeFile(join(repositoryPath, '.git/objects/info/alternates'), `${join(other, '.git/objects')}\n`);
    await fixture.git.configureRepository({ repositoryPath, reread: true });
    expect((await list(stolen(foreign))).files).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ path: 'secret.txt' })]),
    );
  });

  it('reads nothing through links among the objects', async () => {
    const { other, foreign } = await anotherRepository();
    await sh(other, 'gc', '-q');
    const pack = join(fixture.request.repositoryPath, '.git/objects/pack');
    await rm(pack, { recursive: true });
    await symlink(join(other, '.git/objects/pack'), pack);
    await expect(list(stolen(foreign))).rejects.toMatchObject({ code: 'repository-diverted' });
  });

  it('names where a link leads, and does not follow it', async () => {
    const outside = join(fixture.directory.path, 'outside.txt');
    await writeFile(outside, secret);
    await symlink(outside, join(path, 'link'));
    await symlink(fixture.directory.path, join(path, 'up'));
    expect((await lines('link')).hunks[0]!.lines).toMatchObject([{ content: outside, noNewline: true }]);
    expect(await blob('link')).toBe(outside);
    await expect(blob('up/outside.txt')).rejects.toMatchObject({ code: 'unknown-path' });
  });

  it('hides no lines for attributes, and runs no program of the repository', async () => {
    const ran = join(fixture.directory.path, 'ran');
    const program = `sh -c 'touch ${ran}; cat'`;
    const { repositoryPath } = fixture.request;
    for (const key of [
      'diff.external',
      'diff.evil.command',
      'diff.evil.textconv',
      'filter.evil.clean',
      'core.fsmonitor',
    ]) {
      await sh(repositoryPath, 'config', key, program);
    }
    await put(path, { '.gitattributes': '* -diff diff=evil filter=evil\n', 'src/a.txt': 'changed\n' });
    await put(repositoryPath, { '.git/info/attributes': '* -diff\n', '.git/.gitattributes': '* -diff\n' });
    expect((await list()).files).toMatchObject([
      { path: '.gitattributes' },
      { path: 'src/a.txt', additions: 1, binary: false },
    ]);
    expect((await lines('src/a.txt')).hunks).toHaveLength(1);
    await expect(sh(fixture.directory.path, 'hash-object', ran)).rejects.toThrow();
  });

  it('takes no commits for ancestors that a graft or a replacement names', async () => {
    const { repositoryPath } = fixture.request;
    await sh(repositoryPath, 'checkout', '-q', '--orphan', 'private');
    await put(repositoryPath, { 'private.txt': 'p\n' });
    const foreign = await commit(repositoryPath, 'Of another branch');
    const head = (await sh(path, 'rev-parse', 'HEAD')).trim();
    await put(repositoryPath, { '.git/info/grafts': `${head} ${foreign}\n` });
    await expect(list({ from: { kind: 'commit', commit: foreign } })).rejects.toMatchObject({ code: 'unknown-ref' });
    expect((await list({ from: { kind: 'commit', commit: foreign }, tips: [foreign] })).totalFiles).toBeGreaterThan(0);
  });

  it.each(['--output=/tmp/x', 'HEAD', 'main', 'refs/heads/main', 'abc', `${'a'.repeat(40)}^`])(
    'takes %s for no commit',
    async (name) => {
      await expect(list({ from: { kind: 'commit', commit: name } })).rejects.toMatchObject({ code: 'unknown-ref' });
      await expect(list({ from: { kind: 'stored', commit: name } })).rejects.toMatchObject({ code: 'unknown-ref' });
    },
  );

  it('shows a repository inside by its commit', async () => {
    const inside = join(path, 'inside');
    await sh(path, 'init', '-q', inside);
    await put(inside, { 'x.txt': 'x\n' });
    const head = await commit(inside, 'Inside');
    expect((await list()).files).toMatchObject([
      { path: 'inside', submodule: true, newObject: head, newMode: '160000' },
    ]);
    await expect(blob('inside')).rejects.toMatchObject({ code: 'unknown-path' });
    await expect(blob('inside/x.txt')).rejects.toMatchObject({ code: 'unknown-path' });
  });

  it('is refused when another directory is in its place', async () => {
    const worktree = { worktreePath: path, identity: { device: '1', inode: '1', born: '1' } };
    await expect(list({ worktree })).rejects.toMatchObject({ code: 'worktree-replaced' });
  });
});
