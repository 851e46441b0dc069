import { unsettledStates } from '../../../contracts/runs/worktrees/worktree';
import { runExclusive } from '../../../platform/operations/keyed-mutex';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { worktreePlanMessage } from '../../../workflows/message-proofs';
import type { WorktreeHostDependencies } from '../dependencies';
import { gitFailure } from '../git-failure';
import { busy, noWorktree } from '../refusals';
import { answeredBefore } from '../step';
import { beginAdopt } from './begin-adopt';
import { beginCleanup } from './begin-cleanup';
import { beginCommit } from './begin-commit';
import { beginAbort, beginContinue, beginResolve } from './begin-conflict';
import { beginCreate } from './begin-create';
import { beginMerge } from './begin-merge';
import { beginRebase } from './begin-rebase';
import type { Beginning, Begun } from './beginning';

export function createBeginWorktreeActivities(deps: WorktreeHostDependencies) {
  return {
    /**
     * Decides an operation and writes it into the manifest, with every commit it is about, before git changes anything.
     * Repeated, it returns what is recorded.
     */
    async beginWorktree(beginning: Beginning): Promise<Begun> {
      await deps.proofs.require(worktreePlanMessage(beginning), beginning.proof);
      try {
        return await withHeartbeat(() => runExclusive(`worktree/${beginning.taskId}`, () => unlessBegun(beginning)));
      } catch (error) {
        throw gitFailure(error);
      }
    },
  };

  async function unlessBegun(beginning: Beginning): Promise<Begun> {
    const { taskId, operationId } = beginning;
    const record = await deps.worktrees.get(taskId);
    if (!record) {
      return decide(beginning);
    }
    if (record.operation?.id === operationId) {
      return { state: record.state };
    }
    if (record.history.some((entry) => entry.operationId === operationId)) {
      return answeredBefore(record, operationId);
    }
    return unsettledStates.includes(record.state) ? busy(record) : decide(beginning, record);
  }

  function decide({ taskId, operationId, actor, request, target }: Beginning, record?: WorktreeRecord): Promise<Begun> {
    const operation = { id: operationId, actor, startedAt: deps.now().toISOString() };
    if (request.kind === 'create') {
      return beginCreate(deps, { taskId, operation, request }, { target, record });
    }
    if (request.kind === 'adopt') {
      return beginAdopt(deps, { taskId, operation, request }, { target, record });
    }
    if (!record) {
      return Promise.resolve(noWorktree(taskId));
    }
    switch (request.kind) {
      case 'rebase':
        return beginRebase(deps, { taskId, operation, request }, record);
      case 'commit':
        return beginCommit(deps, { taskId, operation, request }, record);
      case 'merge':
        return beginMerge(deps, { taskId, operation, request }, record);
      case 'cleanup':
        return beginCleanup(deps, { taskId, operation, request }, record);
      case 'resolve':
        return beginResolve(deps, { taskId, operation, request }, record);
      case 'continue':
        return beginContinue(deps, { taskId, operation, request }, record);
      case 'abort':
        return beginAbort(deps, { taskId, operation, request }, record);
    }
  }
}

export type BeginWorktreeActivities = ReturnType<typeof createBeginWorktreeActivities>;
