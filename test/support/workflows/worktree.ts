import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import type { BeginWorktreeActivities } from '../../../activities/worktree/begin/begin';
import type { NewWorktreeActivities } from '../../../activities/worktree/create';
import type { WorktreePlan, WorktreePlanActivities } from '../../../activities/worktree/plan';
import type { WorktreeStepActivities } from '../../../activities/worktree/steps';
import type { WorktreeViewActivities } from '../../../activities/worktree/view';
import type { WorktreeRequest } from '../../../contracts/runs/worktrees/request';
import type { WorktreeInspection, WorktreeState } from '../../../contracts/runs/worktrees/worktree';
import { updateProofMs } from '../../../platform/crypto/message-proof';
import { eventually } from '../../../platform/testing/eventually';
import { withProof } from '../../../workflows/clients/with-proof';
import { operateMessage } from '../../../workflows/message-proofs';
import {
  operateUpdate,
  worktreeId,
  type WorktreeInput,
  type WorktreeOutcome,
} from '../../../workflows/worktree/messages';
import { someProofs } from '../stack/proofs';
import { newTaskId } from './ids';
import { type StubbedWorkers, stubbedWorkers, Stubs } from './stubbed-workers';

export type WorktreeActivities = WorktreePlanActivities &
  BeginWorktreeActivities &
  NewWorktreeActivities &
  WorktreeStepActivities &
  Pick<WorktreeViewActivities, 'inspect'>;

export const to = (state: WorktreeState) => async () => ({ state });

export const inspection = { findings: [] } as unknown as WorktreeInspection;

export const refusedWith = (code: string, details: object = {}) => ({
  status: 'refused' as const,
  code,
  message: code,
  details: { ...details },
});

/** The activities of an operation that nothing goes wrong with. */
function activitiesOf(hostId: string, { unfinished = null }: Partial<WorktreePlan>): WorktreeActivities {
  let left = unfinished;
  return {
    planWorktree: async () => {
      const plan = { hostId, target: null, unfinished: left };
      left = null;
      return plan;
    },
    verifyOperation: async () => undefined,
    createWorktree: async () => ({ state: 'ready', inspection }),
    beginWorktree: async () => ({ state: 'rebasing' }),
    makeWorktree: to('ready'),
    rebaseWorktree: to('ready'),
    commitWorktree: to('merging'),
    integrateBranch: to('pushing'),
    pushMerge: to('integrated'),
    finishMerge: to('ready'),
    resolveConflict: to('ready'),
    continueStopped: to('ready'),
    abortStopped: to('ready'),
    removeWorktree: to('removed'),
    giveUp: async () => refusedWith('WORKTREE_CANCELLED'),
    recordInterruption: async ({ code }) => refusedWith('WORKTREE_INTERRUPTED', { code }),
    inspect: async () => inspection,
  };
}

const names = Object.keys(activitiesOf('', {}));

/** The worktree of one task, with the activities of its test. */
export class StubbedWorktree {
  readonly taskId = newTaskId();
  readonly stubs: Stubs;
  readonly handle: WorkflowHandle;

  constructor(
    private readonly workers: StubbedWorkers,
    { plan = {}, ...activities }: Partial<WorktreeActivities> & { plan?: Partial<WorktreePlan> },
  ) {
    this.stubs = new Stubs({ ...activitiesOf(workers.hostId, plan), ...activities });
    workers.use(this.stubs, [this.taskId]);
    workers.terminateAfterwards(worktreeId(this.taskId));
    this.handle = workers.temporal.client.workflow.getHandle(worktreeId(this.taskId));
  }

  /** Requests an operation as the API does. */
  ask(request: WorktreeRequest, actor = 'test'): Promise<WorktreeOutcome> {
    const asked = this.signed(request, actor);
    return this.operate(asked, { ...asked });
  }

  /** Requests an operation with the first message to a workflow that only resumes what was interrupted. */
  askResumed(request: WorktreeRequest): Promise<WorktreeOutcome> {
    return this.operate(this.signed(request, 'test'), { actor: 'reconcile', request: null });
  }

  /** Starts the workflow as reconciliation does. */
  async resume(fields: Partial<WorktreeInput> = {}): Promise<void> {
    await this.workers.temporal.client.workflow.start('worktree', {
      workflowId: worktreeId(this.taskId),
      taskQueue: this.workers.boardQueue,
      args: [{ taskId: this.taskId, heartbeatTimeoutMs: 30_000, actor: 'reconcile', request: null, ...fields }],
    });
  }

  /** The activities in the order they were called. */
  get steps(): string[] {
    return this.stubs.names();
  }

  called(name: string, times = 1): Promise<void> {
    return eventually(() => expect(this.stubs.inputs(name).length).toBeGreaterThanOrEqual(times));
  }

  private signed(request: WorktreeRequest, actor: string) {
    const operation = { request, actor };
    return withProof(someProofs(), operation, {
      message: operateMessage(this.taskId, operation),
      lifetimeMs: updateProofMs,
    });
  }

  private operate(
    asked: ReturnType<StubbedWorktree['signed']>,
    start: Partial<WorktreeInput>,
  ): Promise<WorktreeOutcome> {
    return this.workers.temporal.client.workflow.executeUpdateWithStart(operateUpdate, {
      args: [asked],
      startWorkflowOperation: new WithStartWorkflowOperation('worktree', {
        workflowId: worktreeId(this.taskId),
        taskQueue: this.workers.boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ taskId: this.taskId, heartbeatTimeoutMs: 30_000, ...start }],
      }),
    });
  }
}

/** Worktrees with activities of their tests, on workers that the file shares. What a test does not give succeeds at once. */
export function stubbedWorktrees() {
  const workers = stubbedWorkers(names);
  return {
    workers,
    worktree: (activities: Partial<WorktreeActivities> & { plan?: Partial<WorktreePlan> } = {}): StubbedWorktree =>
      new StubbedWorktree(workers, activities),
  };
}
