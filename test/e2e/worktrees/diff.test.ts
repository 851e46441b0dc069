import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let taskId: string;
let worktree: string;

beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir, 'sample'));
});
afterAll(() => stack.close());

beforeEach(async () => {
  ({ id: taskId } = await stack.call.createTask({ title: 'Compare', git: { repo: 'sample' } }));
  ({ path: worktree } = await stack.call.ok('POST', `/api/tasks/${taskId}/worktree`, {}));
});

const read = (rest = '') => stack.call.get(`/api/diff/${taskId}${rest}`);

describe('the diff of a task', () => {
  it('lists committed, changed and untracked files with totals, their lines and their content', async () => {
    await writeFile(join(worktree, 'committed.ts'), 'export const one = 1;\n');
    await git(worktree, 'add', '.');
    await git(worktree, 'commit', '-qm', 'Add one');
    await mkdir(join(worktree, 'src'));
    await writeFile(join(worktree, 'src/new file.txt'), 'first\nsecond\n');
    const base = await git(worktree, 'rev-parse', 'HEAD~1');

    const diff = await read();
    expect(diff).toMatchObject({
      status: 200,
      body: {
        taskId,
        from: { selector: 'merge-base', commit: base },
        to: { selector: 'worktree', commit: null },
        files: [
          { path: 'committed.ts', status: 'added', additions: 1 },
          { path: 'src/new file.txt', status: 'added', additions: 2 },
        ],
        totalFiles: 2,
        totalAdditions: 3,
        totalDeletions: 0,
      },
    });
    expect((await read('?from=head')).body.files).toMatchObject([{ path: 'src/new file.txt' }]);
    expect((await read('?to=head')).body.files).toMatchObject([{ path: 'committed.ts' }]);
    expect(await read('/file?path=src/new%20file.txt')).toMatchObject({
      status: 200,
      body: { hunks: [{ newStart: 1, lines: [{ type: 'add', content: 'first' }, { content: 'second' }] }] },
    });
    expect((await read('/full')).body.files).toMatchObject([{ language: 'typescript' }, { language: 'text' }]);

    const blob = await fetch(`${stack.url}/api/diff/${taskId}/blob?path=committed.ts&revision=head`);
    expect(await blob.text()).toBe('export const one = 1;\n');
    expect(blob.headers.get('content-disposition')).toContain('attachment');
    expect(blob.headers.get('content-security-policy')).toContain('sandbox');
    expect(await git(worktree, 'status', '--porcelain')).toBe('?? src/');
  });

  it('is read by a cursor, which another state of the files ends', async () => {
    for (const name of ['a', 'b', 'c']) {
      await writeFile(join(worktree, name), `${name}\n`);
    }
    const first = await read('?limit=2');
    expect(first.body.files).toMatchObject([{ path: 'a' }, { path: 'b' }]);
    const rest = `?limit=2&cursor=${encodeURIComponent(first.body.nextCursor)}`;
    expect((await read(rest)).body.files).toMatchObject([{ path: 'c' }]);
    await writeFile(join(worktree, 'a'), 'changed\n');
    expect(await read(rest)).toMatchObject({ status: 409, body: { code: 'DIFF_MOVED' } });
  });

  it('is 304 for a caller that has it', async () => {
    await writeFile(join(worktree, 'a'), 'a\n');
    const url = `${stack.url}/api/diff/${taskId}`;
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    await writeFile(join(worktree, 'a'), 'other\n');
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  it.each([
    ['?from=HEAD', 400],
    ['?from=--output=x', 400],
    ['?to=main', 400],
    ['/file?path=../secret', 400],
    ['/file?path=/etc/passwd', 400],
    ['/blob?path=.git/config', 400],
    ['/file?path=absent.txt', 404],
    ['/blob?path=absent.txt', 404],
    [`?from=${'a'.repeat(40)}`, 404],
    ['?from=checkpoint:checkpoint_00000000_1', 404],
    ['?to=attempt:attempt_00000000', 404],
  ])('refuses %s with %i', async (rest, status) => {
    expect(await read(rest)).toMatchObject({ status });
  });

  it('is 404 without a worktree, and for another task', async () => {
    const { id } = await stack.call.createTask({ title: 'Without', git: { repo: 'sample' } });
    expect(await stack.call.get(`/api/diff/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'WORKTREE_NOT_FOUND' },
    });
    expect(await stack.call.get('/api/diff/task_20260101_absent')).toMatchObject({ status: 404 });
  });
});

describe('the diff of an attempt', () => {
  it('has what the run changed, from its beginning to its end', async () => {
    await stack.call.configureAgents([
      {
        type: 'writer',
        name: 'Writer',
        provider: 'process',
        command: process.execPath,
        args: ['-e', "require('fs').writeFileSync('made.txt', 'made\\n')"],
      },
    ]);
    const { attemptId } = await stack.call.start(taskId, { agent: 'writer' });
    await stack.call.ended(taskId);
    await writeFile(join(worktree, 'later.txt'), 'by a person\n');
    expect(await read(`?from=attempt:${attemptId}&to=attempt:${attemptId}`)).toMatchObject({
      status: 200,
      body: { files: [{ path: 'made.txt', status: 'added' }] },
    });

    await stack.call.ok('DELETE', `/api/tasks/${taskId}/worktree?force=true&reason=tested`);
    expect(await read()).toMatchObject({ status: 404, body: { code: 'WORKTREE_NOT_FOUND' } });
    expect(await read('?to=head')).toMatchObject({ status: 404, body: { code: 'REVISION_NOT_FOUND' } });
    expect(await read(`?to=attempt:${attemptId}`)).toMatchObject({
      status: 200,
      body: { files: [{ path: 'made.txt', status: 'added' }] },
    });
  });
});
