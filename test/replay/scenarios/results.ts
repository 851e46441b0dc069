import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { worktreeId } from '../../../workflows/worktree/messages';
import { aRemoteRepository } from '../../support/git/remote-repository';
import type { Recording, Stage } from './stage';

/** Uncommitted work that is committed: at the end of a run, here and elsewhere, by a caller, and by a merge. */
export async function resultScenarios({ service, dir }: Stage): Promise<Recording[]> {
  const { call } = service;
  const shop = await aRemoteRepository(dir, 'results');
  await call.ok('POST', '/api/config/repos', { name: 'results', path: shop.path, remote: 'origin' });
  const reported = { files: { 'work.txt': 'work\n' }, result: { status: 'success', summary: 'Done.' } };
  const aTask = async (): Promise<string> => {
    const task = { title: 'Recorded', description: JSON.stringify(reported), git: { repo: 'results' } };
    return (await call.createTask(task)).id;
  };
  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
  const aWorktree = async (): Promise<string> => {
    const taskId = await aTask();
    const { path } = await call.ok('POST', url(taskId), {});
    await writeFile(join(path, `${taskId}.txt`), 'work\n');
    return taskId;
  };
  const run = await aTask();
  await call.start(run, { agent: 'as-told' });
  const { attemptId, attempt } = await call.ended(run);
  requireCommitted(attempt);

  const elsewhere = await aWorktree();
  const remote = await call.start(elsewhere, { agent: 'elsewhere' });
  const report = { attemptId: remote.attemptId, status: 'success', summary: 'Done.' };
  await call.ok('POST', `/api/agents/${elsewhere}/complete`, report);
  requireCommitted((await call.ended(elsewhere)).attempt);

  const committed = await aWorktree();
  await call.ok('POST', url(committed, '/commit'), { message: 'Work' });
  const refused = await aWorktree();
  await call.ok('POST', url(refused, '/commit'), {});
  await call.post(url(refused, '/commit'), {});
  const merged = await aWorktree();
  await call.ok('POST', url(merged, '/merge'), { commit: true });
  return [
    ['agent-run-work-committed', agentRunId(attemptId)],
    ['agent-run-remote-work-committed', agentRunId(remote.attemptId)],
    ['worktree-commit', worktreeId(committed)],
    ['worktree-commit-refused', worktreeId(refused)],
    ['worktree-merge-uncommitted', worktreeId(merged)],
  ];
}

/** A history of a run without its commit would prove nothing. */
function requireCommitted({ completion }: { completion: { harness: { committed?: object } } }): void {
  if (!completion.harness.committed) {
    throw new Error(`nothing was committed: ${JSON.stringify(completion)}`);
  }
}
