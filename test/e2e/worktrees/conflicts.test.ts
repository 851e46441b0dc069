import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptAgent } from '../../support/caller';
import { commitIn } from '../../support/git/remote-repository';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let repository: string;
let taskId: string;
let worktree: string;

beforeAll(async () => {
  stack = await startStack();
  repository = await aRepository(stack.dir, 'sample');
  await stack.call.addRepository('sample', repository);
  await stack.call.configureAgents([scriptAgent('worker-bee')]);
});
afterAll(() => stack.close());

beforeEach(async () => {
  ({ id: taskId } = await stack.call.createTask({ title: 'Settle', git: { repo: 'sample' } }));
  ({ path: worktree } = await stack.call.ok('POST', `/api/tasks/${taskId}/worktree`, {}));
});

const read = (rest = '') => stack.call.get(`/api/conflicts/${taskId}${rest}`);
const post = (rest: string, body: object = {}) => stack.call.post(`/api/conflicts/${taskId}${rest}`, body);
const resolve = (path: string, body: object) => post(`/resolve?path=${encodeURIComponent(path)}`, body);
const worktreeUrl = (rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
const manifest = () => stack.call.ok('GET', worktreeUrl());

/** Two commits on the branch, of which the first conflicts with one on the base; the rebase keeps it. */
async function stop() {
  await commitIn(worktree, 'README.md', 'branch\n');
  const headSha = await commitIn(worktree, 'later.txt');
  const ontoSha = await commitIn(repository, 'README.md', `base of ${taskId}\n`);
  const rebased = await stack.call.ok('POST', worktreeUrl('/rebase'), { onConflict: 'keep' });
  return { headSha, ontoSha, rebased };
}

describe('a rebase that keeps its conflict', () => {
  it('is resolved and continued to its end', async () => {
    const { headSha, ontoSha, rebased } = await stop();
    expect(rebased).toMatchObject({
      state: 'ready',
      branch: `board/${taskId}`,
      conflict: { headSha, ontoSha, operationId: expect.stringMatching(/^op_/) },
      evidence: { operation: 'rebase' },
    });
    expect(await read()).toMatchObject({
      status: 200,
      body: {
        taskId,
        hasConflicts: true,
        conflictingFiles: ['README.md'],
        rebaseInProgress: true,
        mergeInProgress: false,
        oursCommit: ontoSha,
        remainingCommits: 1,
      },
    });
    expect((await read('/file?path=README.md')).body).toMatchObject({
      path: 'README.md',
      oursContent: `base of ${taskId}\n`,
      theirsContent: 'branch\n',
      markers: [{ startLine: 1, oursLabel: 'HEAD' }],
    });
    expect(await post('/continue')).toMatchObject({ status: 409, body: { code: 'CONFLICTS_UNRESOLVED' } });
    const manual = { resolution: 'manual', manualContent: 'both\n' };
    expect(await resolve('README.md', manual)).toMatchObject({
      status: 200,
      body: { success: true, remainingConflicts: [] },
    });
    // Its answer may be lost: the same again is the same.
    expect(await resolve('README.md', manual)).toMatchObject({ status: 200 });
    expect(await resolve('README.md', { resolution: 'ours' })).toMatchObject({
      status: 404,
      body: { code: 'CONFLICT_NOT_FOUND' },
    });
    const continued = await post('/continue', { message: 'Settled' });
    expect(continued).toMatchObject({ status: 200, body: { completed: true, hasConflicts: false, operation: null } });
    expect(await git(worktree, 'log', '--format=%s', `${ontoSha}..board/${taskId}`)).toBe('Work: later.txt\nSettled');
    expect(await git(worktree, 'show', 'HEAD:README.md')).toBe('both');
    expect(await manifest()).toMatchObject({
      conflict: null,
      base: { sha: ontoSha },
      evidence: { operation: null, dirty: 0, headSha: continued.body.headSha },
    });
  });

  it('is aborted: the branch is where it was, and the files as they were have a reference', async () => {
    const { headSha } = await stop();
    await resolve('README.md', { resolution: 'theirs' });
    const aborted = await post('/abort');
    expect(aborted).toMatchObject({
      status: 200,
      body: { aborted: true, keptRef: expect.stringMatching(/^refs\/board\/aborted\/op_/) },
    });
    expect(await git(repository, 'show', `${aborted.body.keptRef}:README.md`)).toBe('branch');
    expect(await manifest()).toMatchObject({ conflict: null, evidence: { operation: null, headSha, dirty: 0 } });
    expect(await post('/abort')).toMatchObject({ status: 400, body: { code: 'NOTHING_IN_PROGRESS' } });
    expect(await post('/continue')).toMatchObject({ status: 400, body: { code: 'NOTHING_IN_PROGRESS' } });
  });

  it('refuses runs and other operations meanwhile, and names the calls', async () => {
    await stop();
    const refused = { status: 409, body: { details: { next: { method: 'GET', path: `/api/conflicts/${taskId}` } } } };
    expect(await stack.call.post(worktreeUrl('/merge'))).toMatchObject(refused);
    expect(await stack.call.post(worktreeUrl('/commit'))).toMatchObject(refused);
    const launched = await stack.call.post(`/api/agents/${taskId}/start`, { agent: 'worker-bee' });
    expect(launched).toMatchObject({ ...refused, body: { ...refused.body, code: 'WORKTREE_CONFLICTED' } });
    await post('/abort');
  });

  it('that was ended with git is noticed', async () => {
    const { ontoSha } = await stop();
    await git(worktree, 'checkout', '--theirs', 'README.md');
    await git(worktree, 'add', 'README.md');
    await git(worktree, '-c', 'core.editor=true', 'rebase', '--continue');
    expect(await manifest()).toMatchObject({ conflict: { ontoSha }, evidence: { operation: null } });
    expect(await post('/continue')).toMatchObject({
      status: 400,
      body: { code: 'NOTHING_IN_PROGRESS', error: expect.stringContaining('Runs can start again') },
    });
    expect(await manifest()).toMatchObject({ conflict: null, base: { sha: ontoSha } });
  });

  it('stops again at the next conflict', async () => {
    await commitIn(worktree, 'README.md', 'branch\n');
    await commitIn(worktree, 'second.txt', 'branch\n');
    await commitIn(repository, 'README.md', `base of ${taskId}\n`);
    await commitIn(repository, 'second.txt', `base of ${taskId}\n`);
    await stack.call.ok('POST', worktreeUrl('/rebase'), { onConflict: 'keep' });
    await resolve('README.md', { resolution: 'theirs' });
    expect(await post('/continue')).toMatchObject({
      status: 200,
      body: { completed: false, hasConflicts: true, conflictingFiles: ['second.txt'], remainingCommits: 0 },
    });
    expect(await manifest()).toMatchObject({ conflict: { operationId: expect.any(String) } });
    await resolve('second.txt', { resolution: 'theirs' });
    expect(await post('/continue')).toMatchObject({ status: 200, body: { completed: true } });
  });
});

describe('a merge that an agent has left', () => {
  it('is committed with both parents', async () => {
    const work = await commitIn(worktree, 'README.md', 'branch\n');
    const base = await commitIn(repository, 'README.md', `base of ${taskId}\n`);
    await git(worktree, 'merge', 'main').catch(() => undefined);
    expect((await read()).body).toMatchObject({ mergeInProgress: true, rebaseInProgress: false, hasConflicts: true });
    await resolve('README.md', { resolution: 'ours' });
    expect(await post('/continue')).toMatchObject({ status: 200, body: { completed: true } });
    expect(await git(worktree, 'log', '-1', '--format=%P %s')).toBe(
      `${work} ${base} Merge branch 'main' into board/${taskId}`,
    );
  });
});

describe('what is refused', () => {
  it.each([
    ['a path that leaves the worktree', '../secret', { resolution: 'ours' }, 400],
    ["a path in git's own directory", 'a/.GIT/config', { resolution: 'ours' }, 400],
    ['an unknown resolution', 'README.md', { resolution: 'union' }, 400],
    ['a text for a version', 'README.md', { resolution: 'ours', manualContent: 'x' }, 400],
    ['a text that is none', 'README.md', { resolution: 'manual', manualContent: 'a\0b' }, 400],
    ['a text that is too long', 'README.md', { resolution: 'manual', manualContent: 'x'.repeat(900_001) }, 400],
    ['a file that still has its markers', 'README.md', { resolution: 'manual' }, 409],
    ['a file that is not in conflict', 'later.txt', { resolution: 'theirs' }, 404],
  ])('%s', async (_, path, body, status) => {
    await stop();
    expect(await resolve(path, body)).toMatchObject({ status });
    expect((await read()).body).toMatchObject({ conflictingFiles: ['README.md'] });
  });

  it('conflicts of a task without a worktree', async () => {
    const { id } = await stack.call.createTask({ title: 'None' });
    for (const rest of ['', '/file?path=a']) {
      expect(await stack.call.get(`/api/conflicts/${id}${rest}`)).toMatchObject({ status: 404 });
    }
    expect(await stack.call.post(`/api/conflicts/${id}/abort`)).toMatchObject({ status: 404 });
  });

  it('a list of a rebase that would run a program', async () => {
    await stop();
    await resolve('README.md', { resolution: 'theirs' });
    const gitDir = await git(worktree, 'rev-parse', '--git-dir');
    await writeFile(join(gitDir, 'rebase-merge/git-rebase-todo'), `exec touch ${stack.dir}/pwned\n`);
    expect(await post('/continue')).toMatchObject({ status: 409, body: { code: 'CONFLICT_UNSUPPORTED' } });
  });

  it('to write through a link out of the worktree', async () => {
    await mkdir(join(worktree, 'dir'));
    await commitIn(worktree, 'dir/file', 'branch\n');
    await mkdir(join(repository, 'dir'), { recursive: true });
    await commitIn(repository, 'dir/file', `base of ${taskId}\n`);
    await stack.call.ok('POST', worktreeUrl('/rebase'), { onConflict: 'keep' });
    const outside = join(stack.dir, `outside-${taskId}`);
    await mkdir(outside);
    await writeFile(join(outside, 'file'), 'precious');
    await rm(join(worktree, 'dir'), { recursive: true });
    await symlink(outside, join(worktree, 'dir'));
    expect((await read('/file?path=dir/file')).body).toMatchObject({ content: null, versions: { worktree: null } });
    expect(await resolve('dir/file', { resolution: 'theirs' })).toMatchObject({ status: 200 });
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('precious');
  });
});
