import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aRepository, git } from '../../support/git/repository';
import { type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

let at: SecuredStack;

const commits =
  'echo work > work.txt; git add -A; git -c user.name=A -c user.email=a@localhost commit -qm Work; w=$PWD';
const success = `echo '{"type":"result","status":"success","summary":"done"}'`;
const shell = (type: string, script: string) => ({
  ...{ type, name: type, provider: 'process', command: '/bin/sh' },
  args: ['-c', `${commits}\nc=$(git rev-parse --path-format=absolute --git-common-dir)\n${script}\n${success}`],
});

beforeAll(async () => {
  at = await startSecuredStack();
  await at.admin.configureAgents([
    shell('remover', 'cd /; git --git-dir "$c" worktree remove --force "$w"'),
    shell('pruner', 'cd /; rm -rf "$w"; git --git-dir "$c" worktree prune'),
    shell('beheader', 'echo broken > "$(git rev-parse --git-dir)/HEAD"'),
    shell('shredder', 'cd /; rm -rf "$c"/objects/*'),
    shell('blocker', 'i=$(git rev-parse --git-dir)/index; rm "$i"; mkdir "$i"; exec sleep 60'),
    shell('mover', 'cd /; mv "$w" "$w-moved"'),
    shell(
      'brancher',
      'git checkout -qb other; echo more > more.txt; git add -A; git -c user.name=A -c user.email=a@l commit -qm More',
    ),
    shell('detacher', 'git checkout -q --detach; git branch -qD "board/$(basename "$w")"'),
    shell('clean', ':'),
  ]);
});
afterAll(() => at.stack.close());

/** A task of a repository of its own. */
async function aTask(name: string) {
  const path = await aRepository(at.stack.dir, name);
  await at.admin.addRepository(name, path);
  const { id } = await at.admin.createTask({ title: 'Do it', git: { repo: name } });
  return { id, path, worktree: `/api/tasks/${id}/worktree` };
}

async function runOf(taskId: string, agent: string) {
  await at.admin.start(taskId, { agent });
  return (await at.admin.ended(taskId)).attempt;
}

const workLost = (text: RegExp) => ({
  status: 'partial',
  downgrades: expect.arrayContaining([expect.objectContaining({ code: 'work-lost' })]),
  harness: expect.objectContaining({ workLost: expect.stringMatching(text) }),
});

describe('the run of an agent', () => {
  test.each(['remover', 'pruner'])(
    'that removes its worktree (%s) ends, and the next one works again',
    async (agent) => {
      const { admin } = at;
      const task = await aTask(agent);
      expect((await runOf(task.id, agent)).completion).toMatchObject(workLost(/was removed/));
      expect(await git(task.path, 'log', '-1', '--format=%s', `board/${task.id}`)).toBe('Work');
      expect(await admin.ok('GET', task.worktree)).toMatchObject({ state: 'ready' });
      expect((await runOf(task.id, 'clean')).completion.status).not.toBe('interrupted');
      const { path } = await admin.ok('GET', task.worktree);
      expect(await readFile(join(path, 'work.txt'), 'utf8')).toBe('work\n');
    },
  );

  test('that breaks the HEAD of its worktree ends, and the worktree can be removed and made again', async () => {
    const { admin } = at;
    const task = await aTask('beheader');
    expect((await runOf(task.id, 'beheader')).completion).toMatchObject(workLost(/HEAD names no branch/));
    expect(await admin.ok('GET', task.worktree)).toMatchObject({ recoverable: { code: 'WORKTREE_REPLACED' } });
    await admin.ok('DELETE', `${task.worktree}?force=true&reason=broken`);
    expect(await git(task.path, 'for-each-ref', '--format=%(subject)', 'refs/board/removed')).toBe('Work');
    expect(await admin.ok('POST', task.worktree, {})).toMatchObject({ state: 'ready' });
  });

  // The directory that is made in its place has another inode for certain: the moved one keeps its own.
  test('that removes the directory of its worktree ends with its commit, and the next one works in a new directory', async () => {
    const { admin } = at;
    const task = await aTask('mover');
    const { completion } = await runOf(task.id, 'mover');
    expect(completion).toMatchObject({ status: 'success', harness: { commits: [{ subject: 'Work' }] } });
    expect(completion.harness.uncommitted.reason).toMatch(/directory of the worktree was removed/);
    expect(await git(task.path, 'log', '-1', '--format=%s', `board/${task.id}`)).toBe('Work');
    const manifest = await admin.ok('GET', task.worktree);
    expect(manifest).toMatchObject({ state: 'ready', recoverable: null });
    await admin.ok('PATCH', `/api/tasks/${task.id}`, { status: 'todo' });
    expect((await runOf(task.id, 'clean')).completion).toMatchObject({ status: 'success' });
  });

  test.each(['brancher', 'detacher'])(
    'that leaves another branch (%s) is partial, and the remedy works',
    async (agent) => {
      const { admin } = at;
      const task = await aTask(agent);
      const { completion } = await runOf(task.id, agent);
      expect(completion).toMatchObject({ status: 'partial', downgrades: [{ code: 'branch-changed' }] });
      const { path } = await admin.ok('GET', task.worktree);
      const remedy = `git -C ${path} checkout -B board/${task.id}`;
      const merge = await admin.post(`${task.worktree}/merge`);
      expect([merge.status, merge.body.code, merge.body.error]).toEqual([
        ...[409, 'WORKTREE_MISMATCH', expect.stringContaining(remedy)],
      ]);
      const start = await admin.post(`/api/agents/${task.id}/start`, { agent: 'clean' });
      expect([start.status, start.body.error]).toEqual([409, expect.stringContaining(remedy)]);
      const removal = await admin.send('DELETE', `${task.worktree}?force=true&reason=elsewhere`);
      expect(removal.status).toBe(409);
      expect(JSON.stringify(removal.body)).toContain(remedy);
      await git(path, 'checkout', '-q', '-B', `board/${task.id}`);
      expect((await runOf(task.id, 'clean')).completion.status).toBe('success');
    },
  );

  test('that deletes the objects of its repository ends', async () => {
    const task = await aTask('shredder');
    expect((await runOf(task.id, 'shredder')).completion).toMatchObject(workLost(/is not in the repository/));
  });

  test('in whose worktree git fails for good ends when it is stopped, and nothing there is removed', async () => {
    const { admin } = at;
    const task = await aTask('blocker');
    const { attemptId } = await admin.start(task.id, { agent: 'blocker' });
    const index = join(task.path, '.git/worktrees', task.id, 'index');
    await eventually(async () => expect((await lstat(index)).isDirectory()).toBe(true));
    await admin.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
    const { completion } = (await admin.ended(task.id)).attempt;
    expect(completion).toMatchObject({
      status: 'interrupted',
      harness: { workLost: expect.stringMatching('stays in its worktree') },
    });
    const { path } = await admin.ok('GET', task.worktree);
    expect(await readFile(join(path, 'work.txt'), 'utf8')).toBe('work\n');
  });
});
