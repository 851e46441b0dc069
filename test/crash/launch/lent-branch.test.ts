import { existsSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { aRepository, git } from '../../support/git/repository';
import { kill } from '../../support/processes/kill';
import { type Service, startService } from '../../support/stack/service';

/** Commits, says so, and commits once more when it may. */
const committing = String.raw`
read -r task
commit() { echo "$1" > "$1.txt"; git add "$1.txt"; git -c user.name=A -c user.email=a@x commit -q -m "Add $1"; }
commit first
echo '{"type":"progress","message":"first"}'
while [ ! -e go.txt ]; do sleep 0.05; done
rm go.txt
commit second
echo '{"type":"result","status":"success","summary":"Committed."}'
`;

describe('a branch that a sandbox has when its worker is killed', () => {
  let files: TempDir;
  let service: Service;
  let repository: string;
  beforeAll(async () => {
    files = await makeTempDir('crash-lent-branch');
    service = await startService();
    repository = await aRepository(files.path);
    await service.call.addRepository('sample', repository);
    await service.call.configureAgents([
      { type: 'committing', name: 'Committing', provider: 'process', command: 'sh', args: ['-c', committing] },
    ]);
    await service.call.ok('POST', '/api/sandbox-policies', {
      ...{ id: 'closed', name: 'Closed', network: { defaultEgress: 'deny' } },
    });
  });
  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  it('is lent again to the next run, ends as a file, and has the commits of the one that succeeded', async () => {
    const { id } = await service.call.createTask({ title: 'Commit', git: { repo: 'sample' } });
    const { attemptId } = await service.call.start(id, { agent: 'committing', sandboxPresetId: 'closed' });
    const { branch, path } = await eventually(async () => {
      const worktree = await service.call.ok('GET', `/api/tasks/${id}/worktree`);
      expect(await git(repository, 'log', '--format=%s', '-1', worktree.branch)).toBe('Add first');
      return worktree;
    });
    const ref = join(repository, '.git', 'refs', 'heads', branch);
    expect([lstatSync(ref).isSymbolicLink(), existsSync(`${ref}.lock`)]).toEqual([true, true]);
    kill(service.pids().worker!);
    const next = await eventually(async () => {
      const status = await service.call.status(id);
      expect(status.attemptId).not.toBe(attemptId);
      expect(status.state).toBe('running');
      expect(await git(repository, 'log', '--format=%s', '-1', branch)).toBe('Add first');
      return status.attemptId;
    });
    expect(lstatSync(ref).isSymbolicLink()).toBe(true);
    writeFileSync(join(path, 'go.txt'), '');
    const { attempt } = await service.call.ended(id);
    expect(attempt).toMatchObject({ id: next, completion: { status: 'success' } });
    await eventually(() => {
      expect([lstatSync(ref).isFile(), existsSync(`${ref}.lock`)]).toEqual([true, false]);
      expect(readdirSync(join(repository, '.git', 'board', 'lent'))).toEqual([]);
    });
    expect((await git(repository, 'log', '--format=%s', `main..${branch}`)).split('\n')).toEqual([
      'Add second',
      'Add first',
    ]);
    expect(await git(repository, 'fsck', '--no-dangling')).toBe('');
    await git(repository, 'update-ref', `refs/heads/${branch}`, 'HEAD');
  });
});
