import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { boardQueue } from '../../../workflows/queues';
import { worktreeId } from '../../../workflows/worktree/messages';
import { aRemoteRepository, commitIn } from '../../support/git/remote-repository';
import { git } from '../../support/git/repository';
import { killPart } from '../../support/stack/service';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** Every operation on a worktree, each on a task of its own, and the ways it can be refused. */
export async function worktreeScenarios(stage: Stage): Promise<Recording[]> {
  const { service, temporal, dir } = stage;
  const { call } = service;
  const shop = await aRemoteRepository(dir);
  await call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
  const aWorktree = async (): Promise<{ id: string; path: string }> => {
    const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'shop' } });
    const { path } = await call.ok('POST', url(id), {});
    await commitIn(path, `${id}.txt`);
    return { id, path };
  };
  const created = await aWorktree();
  const rebased = await aWorktree();
  await shop.othersPush('other.txt');
  await call.ok('POST', url(rebased.id, '/rebase'), {});
  const refused = await aWorktree();
  await call.post(url(refused.id, '/merge'), { expectedHead: 'a'.repeat(40) });
  const conflicts = (taskId: string, rest = '') => `/api/conflicts/${taskId}${rest}`;
  const stopped = async (): Promise<string> => {
    const { id, path } = await aWorktree();
    await commitIn(path, 'other.txt', `${id}\n`);
    await shop.othersPush('other.txt', `base of ${id}\n`);
    await call.ok('POST', url(id, '/rebase'), { onConflict: 'keep' });
    return id;
  };
  const resolved = await stopped();
  await call.ok('POST', conflicts(resolved, '/resolve?path=other.txt'), { resolution: 'theirs' });
  const continued = await stopped();
  await call.ok('POST', conflicts(continued, '/resolve?path=other.txt'), { resolution: 'theirs' });
  await call.ok('POST', conflicts(continued, '/continue'), {});
  const aborted = await stopped();
  await call.ok('POST', conflicts(aborted, '/abort'));
  const merged = await aWorktree();
  await call.ok('POST', url(merged.id, '/merge'), {});
  const removed = await aWorktree();
  await call.ok('DELETE', url(removed.id, '?force=true&reason=recorded'));
  const resumed = await aWorktree();
  await temporal.workflow.execute('worktree', {
    workflowId: worktreeId(resumed.id),
    taskQueue: boardQueue,
    args: [{ taskId: resumed.id, actor: 'system:reconcile', request: null, heartbeatTimeoutMs: 2_000 }],
  });
  const legacy = { repo: 'shop', branch: 'legacy', worktreePath: join(dir, 'legacy') };
  await git(shop.path, 'worktree', 'add', '--quiet', '-b', legacy.branch, legacy.worktreePath, 'origin/main');
  const adopted = await call.createTask({ title: 'Recorded', git: legacy });
  await call.ok('POST', url(adopted.id, '/adopt'), {});
  await call.ok('GET', url(created.id));
  await call.send('GET', url(created.id, '/open'));
  await call.ok('GET', `/api/diff/${created.id}`);
  return [
    ['worktree-create', worktreeId(created.id)],
    ['worktree-adopt', worktreeId(adopted.id)],
    ['worktree-rebase', worktreeId(rebased.id)],
    ['worktree-resolve', worktreeId(resolved)],
    ['worktree-continue', worktreeId(continued)],
    ['worktree-abort', worktreeId(aborted)],
    ['worktree-merge-refused', worktreeId(refused.id)],
    ['worktree-merge', worktreeId(merged.id)],
    ['worktree-cleanup', worktreeId(removed.id)],
    ['worktree-resumed', worktreeId(resumed.id)],
    ['worktree-inspection', await latestWorkflow(temporal, 'worktreeInspection')],
    ['worktree-diff', await latestWorkflow(temporal, 'worktreeDiff')],
    ['worktree-open', await latestWorkflow(temporal, 'worktreeOpen')],
    ['worktree-interrupted', await interruptedWorktree(stage)],
  ];
}

/**
 * A creation that lost its worker and its workflow while git was at work, and is finished by the one that looks after
 * such things when a worker starts.
 */
async function interruptedWorktree({ service, temporal, breakpoints }: Stage): Promise<string> {
  const { call } = service;
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'shop' } });
  await breakpoints.set('interrupted', 'before', `*${id}*reset --hard*`);
  const asked = call.post(`/api/tasks/${id}/worktree`, {});
  await breakpoints.reached('interrupted');
  await temporal.workflow.getHandle(worktreeId(id)).terminate('its history is lost');
  await asked;
  killPart(service, 'worker');
  await breakpoints.clear();
  await eventually(async () => {
    const { state } = await call.ok('GET', `/api/tasks/${id}/worktree`);
    if (state !== 'ready') {
      throw new Error(`the worktree is ${state}`);
    }
  });
  return worktreeId(id);
}
