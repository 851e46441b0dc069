/**
 * A worker that reclaims an attempt and is stopped (SIGSTOP) in the middle: `late-holder.ts <request as JSON>`. It stops
 * itself right after the token was found valid for the nth time, before whatever that was verified for.
 */
import { createWorktreeFences } from '../../../activities/worktree/fences';
import { createLog } from '../../../platform/log/log';
import { identifySelf } from '../../../platform/processes/identity';
import { type Baseline, createGit } from '../../../providers/git/git';
import { createWorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../../stores/sqlite/database';

export interface LateRequest {
  storeFile: string;
  settingsDir: string;
  fencesDir: string;
  taskId: string;
  worktreePath: string;
  baseline: Baseline;
  /** 0: it does not stop by itself. */
  stopAt: number;
}

async function main(request: LateRequest): Promise<void> {
  const { storeFile, settingsDir, fencesDir, taskId, worktreePath, baseline, stopAt } = request;
  const database = await openSqlite({ file: storeFile, log: createLog({ name: 'late', level: 'fatal' }) });
  const worktrees = await createWorktreeStore(database);
  const fences = createWorktreeFences({ worktrees, dir: fencesDir, self: await identifySelf() });
  const fence = await fences.take(taskId, { attemptId: baseline.attemptId, stage: 'reclaim' });
  if (!fence) {
    throw new Error('The worktree is not its any more.');
  }
  let asked = 0;
  const git = createGit({ settingsDir, lockWaitMs: 300 }).under({
    ...fence,
    async holds() {
      const held = await fence.holds();
      asked += 1;
      if (asked === stopAt) {
        process.kill(process.pid, 'SIGSTOP');
      }
      return held;
    },
  });
  await git.preserveAttempt({ worktreePath, attemptId: baseline.attemptId, baseline });
  await git.restoreBaseline({ worktreePath, baseline });
  await database.close();
}

main(JSON.parse(process.argv[2] ?? '') as LateRequest).then(
  () => process.stdout.write('done'),
  (error: unknown) => process.stdout.write((error as { code?: string }).code ?? (error as Error).message),
);
