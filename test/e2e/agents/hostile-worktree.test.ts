import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { reconcileId } from '../../../workflows/reconcile/messages';
import { type Answer, Caller } from '../../support/caller';
import { aRemoteRepository, commitIn, type RemoteRepository } from '../../support/git/remote-repository';
import { aRepository, git } from '../../support/git/repository';
import { agentKey, type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

let at: SecuredStack;
let shop: RemoteRepository;
let victim: string;
let reader: Caller;

const readerKey = 'reader-key-of-this-test-0123456789abcdef';

const shell = (type: string, script: string, ...args: string[]) => ({
  type,
  name: type,
  provider: 'process',
  command: '/bin/sh',
  args: ['-c', `${script}\necho '{"type":"result","status":"success","summary":"done"}'`, 'sh', ...args],
});

beforeAll(async () => {
  at = await startSecuredStack({ BOARD_API_KEYS: `worker:${agentKey}:agent,reader:${readerKey}:read-only` });
  reader = new Caller(at.stack.url, { 'x-api-key': readerKey });
  const { admin, stack } = at;
  shop = await aRemoteRepository(stack.dir);
  victim = join(stack.dir, 'victim');
  await mkdir(victim);
  await writeFile(join(victim, 'precious.txt'), 'precious\n');
  await admin.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path });
  await admin.configureAgents([
    shell('mover', 'w=$PWD; cd /; mv "$w" "$w-moved"; ln -s "$1" "$w"', victim),
    shell('lost-mover', 'w=$PWD; cd /; mv "$w" "$w-moved"; ln -s "$1" "$w"; exec sleep 60', victim),
    shell(
      'diverter',
      'echo work > work; r=$(git rev-parse --git-common-dir)/refs/board; mv "$r" "$r-moved"; ln -s "$1" "$r"',
      victim,
    ),
    shell(
      'setter',
      'git config filter.x.clean "touch /nowhere"; echo "exit 0" > "$(git rev-parse --git-common-dir)/hooks/pre-push"',
    ),
  ]);
});
afterAll(() => at.stack.close());

const aTask = async (fields: object = {}): Promise<string> =>
  (await at.admin.createTask({ title: 'Do it', git: { repo: 'shop', ...fields } })).id;
const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;

const codeOf = ({ status, body }: Answer) => [status, body.code];
const refusalOf = ({ status, body }: Answer) => [status, body.details?.issues?.[0].path];
const onGit = [400, 'git.branch'];

describe('merging', () => {
  test('into another branch than the configured ones is for administrators', async () => {
    const { admin, agent } = at;
    await git(shop.path, 'push', '--quiet', 'origin', 'main:release', 'main:next');
    const onto = async (baseBranch: string) => {
      const taskId = await aTask({ baseBranch });
      const { path } = await admin.ok('POST', url(taskId), {});
      await commitIn(path, `${taskId}.txt`);
      return taskId;
    };
    const [main, release, next] = [await onto('main'), await onto('release'), await onto('next')];
    expect((await reader.post(url(main, '/merge'))).status).toBe(403);
    expect((await agent.post(url(main, '/merge'))).status).toBe(200);
    const refused = await agent.post(url(release, '/merge'));
    expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body.error).toMatch(/mergeBranches/);
    expect(refused.body.details).toMatchObject({ required: ['admin:manage'], branch: 'release', repository: 'shop' });
    expect((await admin.post(url(release, '/merge'))).status).toBe(200);
    await admin.ok('PATCH', '/api/config/repos/shop', { mergeBranches: ['next'] });
    expect((await agent.post(url(next, '/merge'))).status).toBe(200);
  });
});

describe('a branch that work is merged into', () => {
  test('is no branch of a task, for any caller', async () => {
    const { admin, agent } = at;
    await admin.ok('PATCH', '/api/config/repos/shop', { mergeBranches: ['next', 'stable'] });
    for (const caller of [admin, agent]) {
      for (const fields of [{ branch: 'main' }, { branch: 'stable' }, { branch: 'release', baseBranch: 'release' }]) {
        const body = { title: 'Do it', git: { repo: 'shop', ...fields } };
        expect(refusalOf(await caller.post('/api/tasks', body))).toEqual(onGit);
        const taskId = await aTask();
        expect(refusalOf(await caller.send('PATCH', `/api/tasks/${taskId}`, { git: body.git }))).toEqual(onGit);
      }
    }
  });

  test('is refused to tasks that have it from before, at each worktree and launch', async () => {
    const { admin } = at;
    const taskId = await aTask({ branch: 'later', worktreePath: '/nowhere' });
    await admin.ok('PATCH', '/api/config/repos/shop', { mergeBranches: ['next', 'later'] });
    for (const operation of ['', '/adopt']) {
      expect(codeOf(await admin.post(url(taskId, operation)))).toEqual([409, 'WORKTREE_BASE_BRANCH']);
    }
    expect(codeOf(await admin.post(`/api/agents/${taskId}/start`, { agent: 'mover' }))).toEqual([
      409,
      'WORKTREE_BASE_BRANCH',
    ]);
    expect((await admin.send('PATCH', `/api/tasks/${taskId}`, { title: 'Otherwise' })).status).toBe(200);
  });

  test('is refused to a worktree that is there from before', async () => {
    const { admin } = at;
    const taskId = await aTask({ branch: 'soon' });
    const { path } = await admin.ok('POST', url(taskId), {});
    await commitIn(path, 'soon.txt');
    await admin.ok('PATCH', '/api/config/repos/shop', { mergeBranches: ['soon'] });
    for (const operation of ['/rebase', '/merge']) {
      expect(codeOf(await admin.post(url(taskId, operation)))).toEqual([409, 'WORKTREE_BASE_BRANCH']);
    }
    await admin.ok('PATCH', '/api/config/repos/shop', { mergeBranches: ['next'] });
    expect((await admin.post(url(taskId, '/merge'))).status).toBe(200);
  });
});

describe('a repository', () => {
  const refusal = async (body: object) => {
    const answer = await at.admin.post('/api/config/repos', { name: 'other', path: shop.path, ...body });
    return [answer.status, answer.body.details.issues?.[0].path];
  };

  test('is refused when its host cannot use it', async () => {
    expect(await refusal({ path: join(at.stack.dir, 'nowhere') })).toEqual([400, 'path']);
    expect(await refusal({ path: victim })).toEqual([400, 'path']);
    expect(await refusal({ hostId: 'nobody' })).toEqual([400, 'hostId']);
    expect(await refusal({ remote: 'upstream' })).toEqual([400, 'remote']);
    expect(await refusal({ allowFilters: ['no-such-filter'] })).toEqual([400, 'allowFilters']);
    expect(await refusal({ defaultBranch: 'no-such-branch' })).toEqual([400, 'defaultBranch']);
  });

  test('is refused with what is wrong at its path, and the remedy', async () => {
    const { admin, stack } = at;
    const message = async (path: string, body: object = {}) => {
      const answer = await admin.post('/api/config/repos', { name: 'other', path, remote: null, ...body });
      return answer.body.details.issues?.[0].message;
    };
    expect(await message(join(stack.dir, 'nowhere'))).toMatch(/^There is nothing at .+nowhere on the host/);
    const plain = join(stack.dir, 'plain');
    await mkdir(plain);
    expect(await message(plain)).toMatch(/^There is no git repository at .+plain on .*git init/);
    await git(plain, 'init', '-q', '-b', 'main');
    expect(await message(plain)).toMatch(/has no branch main with a commit .*git commit --allow-empty/);
    await git(plain, 'commit', '-q', '--allow-empty', '-m', 'begin');
    await admin.ok('POST', '/api/config/repos', { name: 'other', path: plain, remote: null });
    const changed = await admin.send('PATCH', '/api/config/repos/other', { defaultBranch: 'trunk' });
    expect([changed.status, changed.body.details.issues[0].path]).toEqual([400, 'defaultBranch']);
    await admin.ok('DELETE', '/api/config/repos/other');
  });

  test('whose branch is only at its remote so far may be configured', async () => {
    const path = join(at.stack.dir, 'unfetched');
    await mkdir(path);
    await git(path, 'init', '-q', '-b', 'main');
    await git(path, 'remote', 'add', 'origin', shop.remote);
    await at.admin.ok('POST', '/api/config/repos', { name: 'unfetched', path });
    expect(await refusal({ path, defaultBranch: 'nowhere' })).toEqual([400, 'defaultBranch']);
    await at.admin.ok('DELETE', '/api/config/repos/unfetched');
  });

  test('that has a remote uses it, unless that is turned off', async () => {
    const { admin, stack } = at;
    const theirs = await shop.othersPush('theirs.txt');
    expect(await admin.ok('POST', url(await aTask()), {})).toMatchObject({ base: { sha: theirs, source: 'remote' } });
    await admin.ok('POST', '/api/config/repos', { name: 'alone', path: shop.path, remote: null });
    const alone = await aTask({ repo: 'alone' });
    expect(await admin.ok('POST', url(alone), {})).toMatchObject({ base: { remote: null, source: 'local' } });
    const path = await aRepository(stack.dir, 'cut-off');
    await git(path, 'remote', 'add', 'origin', join(stack.dir, 'gone.git'));
    await admin.ok('POST', '/api/config/repos', { name: 'cut-off', path });
    const refused = await admin.post(url(await aTask({ repo: 'cut-off' })));
    expect([refused.status, refused.body.code]).toEqual([409, 'WORKTREE_FETCH_FAILED']);
  });

  test('keeps the settings of when it was configured until an administrator has them read again', async () => {
    const { admin, agent, stack } = at;
    const path = await aRepository(stack.dir, 'rereading');
    await admin.ok('POST', '/api/config/repos', { name: 'rereading', path });
    await git(path, 'remote', 'add', 'origin', join(stack.dir, 'gone.git'));
    expect(await admin.ok('POST', url(await aTask({ repo: 'rereading' })), {})).toMatchObject({
      base: { remote: null },
    });
    expect((await agent.post('/api/config/repos/rereading/reread')).status).toBe(403);
    await admin.ok('POST', '/api/config/repos/rereading/reread');
    expect((await admin.post(url(await aTask({ repo: 'rereading' })))).body.code).toBe('WORKTREE_FETCH_FAILED');
  });
});

describe('an agent', () => {
  test('that puts a link in the place of its worktree loses its work, and nothing else is touched', async () => {
    const { admin } = at;
    const taskId = await aTask();
    await admin.start(taskId, { agent: 'mover' });
    const { attempt } = await admin.ended(taskId);
    expect(attempt.completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      downgrades: expect.arrayContaining([expect.objectContaining({ code: 'work-lost' })]),
      harness: { workLost: expect.stringContaining('symbolic link') },
    });
    const lost = await admin.ok('GET', url(taskId));
    expect(lost).toMatchObject({ state: 'failed', recoverable: { code: 'WORKTREE_REPLACED' } });
    expect(await readFile(join(victim, 'precious.txt'), 'utf8')).toBe('precious\n');
    expect((await admin.send('DELETE', url(taskId))).status).toBe(409);
    const removed = await admin.ok('DELETE', `${url(taskId)}?force=true&reason=replaced`);
    expect(removed.state).toBe('removed');
    expect(await readFile(join(victim, 'precious.txt'), 'utf8')).toBe('precious\n');
    expect(await admin.ok('POST', url(taskId), {})).toMatchObject({ state: 'ready', path: lost.path });
  });

  test('that did so before its run was lost is reported when that is reclaimed', async () => {
    const { admin, stack } = at;
    const taskId = await aTask();
    const { attemptId } = await admin.start(taskId, { agent: 'lost-mover' });
    const { path } = await eventually(async () => {
      const worktree = await admin.ok('GET', url(taskId));
      expect((await lstat(worktree.path)).isSymbolicLink()).toBe(true);
      return worktree;
    });
    await stack.temporal.workflow.getHandle(agentRunId(attemptId)).terminate('by the test');
    await stack.temporal.schedule.getHandle(reconcileId).trigger();
    const lost = await eventually(async () => {
      const { attempts } = await admin.ok('GET', `/api/agents/${taskId}/attempts`);
      const attempt = attempts.find(({ id }: { id: string }) => id === attemptId);
      expect(attempt.completion).toBeTruthy();
      return attempt;
    });
    expect(lost.completion.harness.workLost).toMatch(/symbolic link/);
    expect((await admin.ok('GET', url(taskId))).recoverable.code).toBe('WORKTREE_REPLACED');
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await readdir(victim)).toEqual(['precious.txt']);
    expect(await readFile(join(victim, 'precious.txt'), 'utf8')).toBe('precious\n');
  });

  test('that diverts references of the repository has its work reported lost, and nothing is written there', async () => {
    const { admin, stack } = at;
    const path = await aRepository(stack.dir, 'diverted');
    await admin.ok('POST', '/api/config/repos', { name: 'diverted', path });
    const taskId = await aTask({ repo: 'diverted' });
    await admin.start(taskId, { agent: 'diverter' });
    const { attempt } = await admin.ended(taskId);
    expect(attempt.completion.harness.workLost).toMatch(/refs\/board is a symbolic link/);
    expect(await readdir(victim)).toEqual(['precious.txt']);
    const next = await admin.post(`/api/agents/${await aTask({ repo: 'diverted' })}/start`, { agent: 'setter' });
    expect([next.status, next.body.code]).toEqual([409, 'WORKTREE_NOT_CREATED']);
  });

  test('that changes settings and hooks of the repository is reported, by their names', async () => {
    const { admin } = at;
    const taskId = await aTask();
    await admin.start(taskId, { agent: 'setter' });
    const { attempt } = await admin.ended(taskId);
    expect(attempt.completion.harness.outside).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'repository-setting', target: 'config:filter.x.clean', before: null }),
        expect.objectContaining({ what: 'hook', target: 'hooks/pre-push', before: null }),
      ]),
    );
    expect(JSON.stringify(attempt.completion)).not.toContain('/nowhere');
  });
});
