import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aRemoteRepository, commitIn, type RemoteRepository } from '../../support/git/remote-repository';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let shop: RemoteRepository;

beforeAll(async () => {
  stack = await startStack({ BOARD_EDITOR_COMMAND: JSON.stringify(['true', '{path}']) });
  shop = await aRemoteRepository(stack.dir);
  await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
  await stack.call.addRepository('local', await aRepository(stack.dir, 'local'));
});

afterAll(() => stack.close());

const aTask = async (repo = 'shop'): Promise<string> =>
  (await stack.call.createTask({ title: 'Do it', git: { repo } })).id;
const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
const create = (taskId: string, body: object = {}) => stack.call.ok('POST', url(taskId), body);
const codes = (findings: { code: string }[]) => findings.map(({ code }) => code).sort();

/** Everything of the primary checkout but what worktrees and references are made of. */
const primary = async () => ({
  head: await git(shop.path, 'rev-parse', '--symbolic-full-name', 'HEAD'),
  main: await git(shop.path, 'rev-parse', 'main'),
  status: await git(shop.path, 'status', '--porcelain=v2', '--untracked-files=all'),
});

describe('creating', () => {
  test('fetches the base, and answers the manifest with lease, exact base, freshness, counts and cleanup preview', async () => {
    const base = await shop.othersPush('fresh.txt');
    const taskId = await aTask();
    const before = await primary();
    const made = await create(taskId, { leaseSeconds: 3600 });
    expect(made).toMatchObject({
      schemaVersion: 'worktree-manifest/v1',
      manifestId: expect.stringMatching(/^wt_/),
      taskId,
      state: 'ready',
      branch: `board/${taskId}`,
      base: { branch: 'main', remote: 'origin', sha: base, source: 'remote' },
      lease: { ownerAttemptId: null, seconds: 3600 },
      remoteFreshness: { remote: 'origin', stale: false },
      ahead: 0,
      behind: 0,
      cleanupPreview: { safe: true, expired: false, findings: [] },
    });
    expect(await git(made.path, 'rev-parse', 'HEAD')).toBe(base);
    expect(await primary()).toEqual(before);
    expect(await create(taskId)).toMatchObject({ manifestId: made.manifestId, path: made.path });
  });

  test('two at once are one', async () => {
    const taskId = await aTask();
    const [first, second] = await Promise.all([create(taskId), create(taskId)]);
    expect(second.manifestId).toBe(first.manifestId);
  });

  test('without its remote is refused, unless the request gives a reason for a stale base', async () => {
    const taskId = await aTask();
    await rename(shop.remote, `${shop.remote}.away`);
    try {
      const refused = await stack.call.post(url(taskId));
      expect(refused).toMatchObject({ status: 409, body: { code: 'WORKTREE_FETCH_FAILED' } });
      expect(refused.body.error).toContain('allowStaleBase');
      expect(await stack.call.get(url(taskId))).toMatchObject({ status: 404, body: { code: 'WORKTREE_NOT_FOUND' } });
      expect(await stack.call.post(url(taskId), { allowStaleBase: true })).toMatchObject({ status: 400 });
      const offline = { allowStaleBase: true, staleBaseAcknowledgement: { reason: 'on a train' } };
      expect(await create(taskId, offline)).toMatchObject({
        state: 'ready',
        base: { source: 'stale-local', acknowledgement: { reason: 'on a train' } },
        remoteFreshness: { stale: true },
      });
    } finally {
      await rename(`${shop.remote}.away`, shop.remote);
    }
  });

  test('of a repository without a remote begins at the local branch', async () => {
    expect(await create(await aTask('local'))).toMatchObject({ base: { remote: null, source: 'local' } });
  });

  test.each([
    ['unknown fields', { surprise: 1 }],
    ['a lease that is too short', { leaseSeconds: 5 }],
    ['an empty reason', { allowStaleBase: true, staleBaseAcknowledgement: { reason: '' } }],
  ])('refuses %s', async (_, body) => {
    expect(await stack.call.post(url(await aTask()), body)).toMatchObject({ status: 400 });
  });

  test('reports what is in the way, and continues when it is not', async () => {
    const taskId = await aTask();
    await writeFile(join(stack.env.BOARD_DATA_DIR, 'worktrees', taskId), 'in the way');
    expect(await stack.call.post(url(taskId))).toMatchObject({ status: 409, body: { code: 'WORKTREE_NOT_CREATED' } });
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({
      state: 'failed',
      recoverable: { code: 'conflict', path: expect.stringContaining(taskId) },
    });
    await rename(join(stack.env.BOARD_DATA_DIR, 'worktrees', taskId), join(stack.dir, 'aside'));
    expect(await create(taskId)).toMatchObject({ state: 'ready', recoverable: null });
  });
});

describe('removing', () => {
  test('takes a clean worktree away, once, and keeps its history', async () => {
    const taskId = await aTask();
    const { path, branch } = await create(taskId);
    expect(await stack.call.ok('DELETE', url(taskId))).toMatchObject({ state: 'removed' });
    expect(existsSync(path)).toBe(false);
    expect(await git(shop.path, 'branch', '--list', branch)).toBe('');
    expect(await stack.call.ok('DELETE', url(taskId))).toMatchObject({ state: 'removed' });
    const again = await create(taskId);
    expect(again.history.map(({ kind }: { kind: string }) => kind)).toEqual(['create', 'cleanup', 'create']);
  });

  test('refuses what would lose something, and keeps it when it is forced with a reason', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    const work = await commitIn(path, 'work.txt');
    await writeFile(join(path, 'README.md'), 'changed\n');
    await writeFile(join(path, 'note.txt'), 'new\n');
    const preview = await stack.call.ok('GET', url(taskId, '/cleanup-preview'));
    expect(codes(preview.findings)).toEqual(['dirty', 'unmerged', 'unpushed', 'untracked']);
    expect(preview).toMatchObject({ safe: false, forceable: true });

    const refused = await stack.call.send('DELETE', url(taskId));
    expect(refused).toMatchObject({ status: 409, body: { code: 'WORKTREE_NOT_REMOVABLE' } });
    expect(codes(refused.body.details.findings)).toEqual(codes(preview.findings));
    expect(await stack.call.send('DELETE', url(taskId, '?force=true'))).toMatchObject({ status: 400 });

    const removed = await stack.call.ok('DELETE', url(taskId, '?force=true&reason=not%20wanted'));
    expect(removed.state).toBe('removed');
    const entry = removed.history.at(-1);
    expect(entry).toMatchObject({ kind: 'cleanup', result: 'done', reason: 'not wanted' });
    expect(await git(shop.path, 'show', `${entry.keptRef}:note.txt`)).toBe('new');
    await git(shop.path, 'merge-base', '--is-ancestor', work, entry.keptRef);
  });

  test('yields to no force while the worktree is on another branch', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    await git(path, 'switch', '--quiet', '-c', 'elsewhere');
    const refused = await stack.call.send('DELETE', url(taskId, '?force=true&reason=x'));
    expect(refused).toMatchObject({ status: 409 });
    expect(refused.body.details.findings).toContainEqual(
      expect.objectContaining({ code: 'branch-mismatch', overridable: false }),
    );
  });

  test('lists what has expired, a page at a time', async () => {
    expect(await stack.call.ok('GET', '/api/tasks/worktrees/cleanup-preview?limit=5')).toMatchObject({
      candidates: [],
      pagination: { page: 1, limit: 5, total: 0 },
    });
  });
});

describe('rebasing', () => {
  test('moves the branch onto the base as the remote has it now', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    await commitIn(path, `${taskId}.txt`);
    const base = await shop.othersPush(`before-${taskId}.txt`);
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({ ahead: 1 });
    const rebased = await stack.call.ok('POST', url(taskId, '/rebase'), {});
    expect(rebased).toMatchObject({ state: 'ready', base: { sha: base, source: 'remote' }, ahead: 1, behind: 0 });
    expect(await git(path, 'log', '--format=%s', '-2')).toBe(`Work: ${taskId}.txt\nOthers: before-${taskId}.txt`);
  });

  test('puts everything back after a conflict, and names the files', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    const head = await commitIn(path, 'both.txt', 'ours\n');
    await shop.othersPush('both.txt', 'theirs\n');
    const refused = await stack.call.post(url(taskId, '/rebase'));
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_REBASE_CONFLICT', details: { paths: ['both.txt'] } },
    });
    expect(await git(path, 'rev-parse', 'HEAD')).toBe(head);
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({ state: 'ready', operation: null });
  });

  test.each(['/rebase', '/merge'])(
    '%s refuses another head than was inspected, and changes that are not committed',
    async (what) => {
      const taskId = await aTask();
      const { path } = await create(taskId);
      expect(await stack.call.post(url(taskId, what), { expectedHead: 'a'.repeat(40) })).toMatchObject({
        status: 409,
        body: { code: 'WORKTREE_HEAD_MOVED' },
      });
      await writeFile(join(path, 'README.md'), 'changed\n');
      await writeFile(join(path, 'new.txt'), 'new\n');
      expect(await stack.call.post(url(taskId, what))).toMatchObject({
        status: 409,
        body: { code: 'WORKTREE_DIRTY', details: { dirty: 1, untracked: 1 } },
      });
    },
  );

  test.each(['/rebase', '/merge'])('%s refuses a worktree whose only change is a new file', async (what) => {
    const taskId = await aTask();
    await writeFile(join((await create(taskId)).path, 'new.txt'), 'new\n');
    expect(await stack.call.post(url(taskId, what))).toMatchObject({
      status: 409,
      body: {
        code: 'WORKTREE_DIRTY',
        error: expect.stringContaining(`POST ${url(taskId, '/commit')}`),
        details: { dirty: 0, untracked: 1, next: { method: 'POST', path: url(taskId, '/commit') } },
      },
    });
  });
});

describe('merging', () => {
  test('pushes a merge of the branch to the base and leaves the primary checkout as it is', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    const work = await commitIn(path, `${taskId}.txt`);
    const base = await shop.othersPush(`other-${taskId}.txt`);
    const before = await primary();
    const merged = await stack.call.ok('POST', url(taskId, '/merge'), { message: 'Land it' });
    const { mergedSha } = merged.history.at(-1);
    expect(merged).toMatchObject({ state: 'ready', operation: null, evidence: { merged: true } });
    expect(await git(shop.remote, 'rev-parse', 'main')).toBe(mergedSha);
    expect(await git(shop.remote, 'log', '-1', '--format=%P %s', 'main')).toBe(`${base} ${work} Land it`);
    expect(await primary()).toEqual(before);
    expect(await git(shop.path, 'worktree', 'list')).not.toContain('integrations');
    expect(await stack.call.ok('DELETE', url(taskId))).toMatchObject({ state: 'removed' });
  });

  test('of nothing is refused with the reason, and one that is repeated is not', async () => {
    const taskId = await aTask();
    const { path, branch } = await create(taskId);
    const base = await git(shop.remote, 'rev-parse', 'main');
    const refused = await stack.call.post(url(taskId, '/merge'));
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'WORKTREE_NOTHING_TO_MERGE',
        details: {
          branch,
          base: 'main',
          headSha: base,
          baseSha: base,
          next: { method: 'POST', path: `/api/agents/${taskId}/start` },
        },
      },
    });
    expect(await git(shop.remote, 'rev-parse', 'main')).toBe(base);
    await commitIn(path, `${taskId}.txt`);
    const merged = await stack.call.ok('POST', url(taskId, '/merge'), {});
    expect(await stack.call.ok('POST', url(taskId, '/merge'), {})).toMatchObject({ history: merged.history });
  });

  test('commits what is not committed first, when that is requested', async () => {
    const taskId = await aTask();
    const { path, base } = await create(taskId);
    await writeFile(join(path, `${taskId}.txt`), 'new\n');
    const merged = await stack.call.ok('POST', url(taskId, '/merge'), { commit: true, commitMessage: 'Add it' });
    expect(merged).toMatchObject({ state: 'ready', evidence: { merged: true, untracked: 0 } });
    const { headSha, mergedSha } = merged.history.at(-1);
    expect(await git(shop.remote, 'log', '-1', '--format=%P %s', headSha)).toBe(`${base.sha} Add it`);
    expect(await git(shop.remote, 'rev-parse', 'main')).toBe(mergedSha);
    expect(await git(shop.remote, 'show', `main:${taskId}.txt`)).toBe('new');
  });

  test('pushes nothing after a conflict', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    await commitIn(path, 'clash.txt', 'ours\n');
    const base = await shop.othersPush('clash.txt', 'theirs\n');
    expect(await stack.call.post(url(taskId, '/merge'))).toMatchObject({
      status: 409,
      body: {
        code: 'WORKTREE_MERGE_CONFLICT',
        details: { paths: ['clash.txt'], next: { path: url(taskId, '/rebase') } },
      },
    });
    expect(await git(shop.remote, 'rev-parse', 'main')).toBe(base);
    expect(await stack.call.ok('GET', url(taskId))).toMatchObject({ state: 'ready' });
  });
});

describe('committing', () => {
  test('commits changes and new files in the name of the caller, once', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    expect(await stack.call.post(url(taskId, '/commit'))).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_NOTHING_TO_COMMIT' },
    });
    await writeFile(join(path, 'README.md'), 'changed\n');
    await writeFile(join(path, 'new.txt'), 'new\n');
    const expectedHead = 'a'.repeat(40);
    expect(await stack.call.post(url(taskId, '/commit'), { expectedHead })).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_HEAD_MOVED' },
    });
    const committed = await stack.call.ok('POST', url(taskId, '/commit'), { message: 'Keep it' });
    const head = await git(path, 'rev-parse', 'HEAD');
    expect(committed).toMatchObject({
      state: 'ready',
      operation: null,
      evidence: { headSha: head, dirty: 0, untracked: 0, ahead: 1 },
    });
    expect(committed.history.at(-1)).toMatchObject({ kind: 'commit', result: 'done', headSha: head });
    expect(await git(path, 'log', '-1', '--format=%s')).toBe('Keep it');
    expect(await git(path, 'show', '--format=', '--name-only', 'HEAD')).toBe('README.md\nnew.txt');
  });

  test('refuses a worktree on another branch', async () => {
    const taskId = await aTask();
    const { path } = await create(taskId);
    await git(path, 'switch', '--quiet', '-c', `elsewhere-${taskId}`);
    await writeFile(join(path, 'new.txt'), 'new\n');
    expect(await stack.call.post(url(taskId, '/commit'))).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_MISMATCH' },
    });
  });
});

describe('adopting', () => {
  const aLegacyTask = async (branch: string, path: string) =>
    (await stack.call.createTask({ title: 'Old', git: { repo: 'shop', branch, worktreePath: path } })).id as string;

  test('takes over exactly the worktree that the task names', async () => {
    const path = join(stack.dir, 'legacy');
    await git(shop.path, 'fetch', '--quiet', 'origin');
    await git(shop.path, 'worktree', 'add', '--quiet', '-b', 'legacy', path, 'origin/main');
    const taskId = await aLegacyTask('legacy', path);
    const missing = await stack.call.get(url(taskId));
    expect(missing).toMatchObject({ status: 404 });
    expect(missing.body.error).toContain('adopt');
    const adopted = await stack.call.ok('POST', url(taskId, '/adopt'), {});
    expect(adopted).toMatchObject({ state: 'ready', base: { source: 'legacy-adopted' }, branch: 'legacy' });
    expect(await stack.call.post(url(taskId, '/adopt'))).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_EXISTS' },
    });

    const second = await aLegacyTask('legacy', path);
    expect(await stack.call.post(url(second, '/adopt'))).toMatchObject({ body: { code: 'WORKTREE_PATH_TAKEN' } });
  });

  test('takes over a worktree by which the create of another one has failed', async () => {
    const path = join(stack.dir, 'legacy-3');
    await git(shop.path, 'worktree', 'add', '--quiet', '-b', 'legacy-3', path, 'origin/main');
    const taskId = await aLegacyTask('legacy-3', path);
    expect(await stack.call.post(url(taskId))).toMatchObject({ status: 409, body: { code: 'WORKTREE_NOT_CREATED' } });
    const { path: elsewhere } = await stack.call.ok('GET', url(taskId));
    await mkdir(elsewhere, { recursive: true });
    const blocked = await stack.call.post(url(taskId, '/adopt'));
    expect(blocked).toMatchObject({ status: 409, body: { code: 'WORKTREE_EXISTS' } });
    expect(blocked.body.error).toContain(`DELETE ${url(taskId)} first`);
    await rm(elsewhere, { recursive: true });
    const adopted = await stack.call.ok('POST', url(taskId, '/adopt'), {});
    expect(adopted).toMatchObject({ state: 'ready', path, recoverable: null, branch: 'legacy-3' });
    expect(adopted.history.map(({ kind, result }: { kind: string; result: string }) => [kind, result])).toEqual([
      ['create', 'failed'],
      ['adopt', 'done'],
    ]);
  });

  test('refuses a worktree on another branch, and reports what does not hold', async () => {
    const path = join(stack.dir, 'legacy-2');
    await git(shop.path, 'worktree', 'add', '--quiet', '-b', 'legacy-2', path, 'origin/main');
    const refused = await stack.call.post(url(await aLegacyTask('other', path), '/adopt'));
    expect(refused).toMatchObject({ status: 409, body: { code: 'WORKTREE_NOT_ADOPTABLE' } });
  });
});

test('the configured editor is opened on the worktree', async () => {
  const taskId = await aTask();
  const { path } = await create(taskId);
  expect(await stack.call.ok('GET', url(taskId, '/open'))).toMatchObject({ taskId, path, command: ['true', path] });
});

test('a task that is not there has no worktree', async () => {
  expect(await stack.call.get(url('task_20260101_nobody'))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  expect(await stack.call.post(url('task_20260101_nobody'))).toMatchObject({ status: 404 });
});
