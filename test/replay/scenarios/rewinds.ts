import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rewindPlanId, workspaceRewindId } from '../../../workflows/workspace-rewind/messages';
import { anEditorRun, aTurn, decideApproval, requestRewind } from '../../support/git/rewinds';
import type { Recording, Stage } from './stage';

/** A worktree that goes back, and one that has changed since it was planned. */
export async function rewindScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const run = await anEditorRun(call);
  const target = await aTurn(call, run, 'write a.txt one', { 'a.txt': 'one' });
  const latest = await aTurn(call, run, 'write a.txt two', { 'a.txt': 'two' });
  const approved = async (requestId: string) => {
    const { body } = await requestRewind(call, run, target, latest, requestId);
    await decideApproval(call, body.approval, 'approved');
    return body.rewind.id as string;
  };
  const [refused, committed] = [await approved('recorded-1'), await approved('recorded-2')];
  await writeFile(join(run.path, 'by-hand.txt'), 'x');
  await requestRewind(call, run, target, latest, 'recorded-1');
  await rm(join(run.path, 'by-hand.txt'));
  await requestRewind(call, run, target, latest, 'recorded-2');
  await call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  return [
    ['workspace-rewind-plan', rewindPlanId(committed)],
    ['workspace-rewind-refused', workspaceRewindId(refused)],
    ['workspace-rewind-committed', workspaceRewindId(committed)],
  ];
}
