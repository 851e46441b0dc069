import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { BeginWorktreeActivities } from '../../activities/worktree/begin/begin';
import type { Beginning } from '../../activities/worktree/begin/beginning';
import type { NewWorktreeActivities } from '../../activities/worktree/create';
import type { WorktreePlan, WorktreePlanActivities } from '../../activities/worktree/plan';
import type { WorktreeStepActivities } from '../../activities/worktree/steps';
import type { WorktreeViewActivities } from '../../activities/worktree/view';
import type { WorktreeRequest } from '../../contracts/runs/worktrees/request';
import type { WorktreeInspection, WorktreeState } from '../../contracts/runs/worktrees/worktree';
import { updateProofMs } from '../../platform/crypto/message-proof';
import { createLog } from '../../platform/log/log';
import { installRuntime } from '../../platform/temporal/runtime';
import { eventually } from '../../platform/testing/eventually';
import { withProof } from '../../workflows/clients/with-proof';
import { operateMessage } from '../../workflows/message-proofs';
import { hostQueue } from '../../workflows/queues';
import { operateUpdate, worktreeId, type WorktreeOutcome } from '../../workflows/worktree/messages';
import { someProofs } from '../support/stack/proofs';
import { type TestTemporal, testTemporal } from '../support/stack/temporal';
import { workflowBundle } from '../support/stack/workflow-bundle';

type Activities = WorktreePlanActivities &
  BeginWorktreeActivities &
  NewWorktreeActivities &
  WorktreeStepActivities &
  Pick<WorktreeViewActivities, 'inspect'>;

let temporal: TestTemporal;

beforeAll(async () => {
  installRuntime(createLog({ name: 'test', level: 'error' }));
  temporal = await testTemporal();
});

afterAll(() => temporal.close());

const to = (state: WorktreeState) => async () => ({ state });
const inspection = { findings: [] } as unknown as WorktreeInspection;
const refused = (code: string) => ({
  status: 'refused' as const,
  code,
  message: code,
  details: {},
});

interface Operated {
  /** Asks for an operation as the API does. */
  ask: (request: WorktreeRequest, actor?: string) => Promise<WorktreeOutcome>;
  /** Starts the workflow as reconciliation does. */
  resume: () => Promise<void>;
  cancel: () => Promise<unknown>;
  calls: string[];
  hostId: string;
}

/** Runs `body` against workers with these activities; what is not given succeeds at once. */
async function withWorktree(
  { plan = {}, ...activities }: Partial<Activities> & { plan?: Partial<WorktreePlan> },
  body: (operated: Operated) => Promise<void>,
): Promise<void> {
  const taskId = `task_20260101_${randomUUID().slice(0, 8)}`;
  const hostId = `h-${randomUUID()}`;
  const taskQueue = temporal.unique('board');
  const calls: string[] = [];
  let unfinished = plan.unfinished ?? null;
  const all: Activities = {
    planWorktree: async () => {
      const planned = { hostId, target: null, unfinished };
      unfinished = null;
      return planned;
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
    removeWorktree: to('removed'),
    giveUp: async () => refused('WORKTREE_CANCELLED'),
    recordInterruption: async ({ code }) => ({ ...refused('WORKTREE_INTERRUPTED'), details: { code } }),
    inspect: async () => inspection,
    ...activities,
  };
  const traced = Object.fromEntries(
    Object.entries(all).map(([name, run]) => [
      name,
      (argument: never) => {
        calls.push(name);
        return (run as (argument: never) => Promise<unknown>)(argument);
      },
    ]),
  );
  const connection = temporal.nativeConnection;
  const board = await Worker.create({ connection, taskQueue, workflowBundle, activities: traced });
  const host = await Worker.create({ connection, taskQueue: hostQueue(hostId), activities: traced });
  const workflowId = worktreeId(taskId);
  const input = { taskId, heartbeatTimeoutMs: 1_000 };
  const operated: Operated = {
    calls,
    hostId,
    ask: (request, actor = 'test') => {
      const operation = { request, actor };
      const asked = withProof(someProofs(), operation, {
        message: operateMessage(taskId, operation),
        lifetimeMs: updateProofMs,
      });
      return temporal.client.workflow.executeUpdateWithStart(operateUpdate, {
        args: [asked],
        startWorkflowOperation: new WithStartWorkflowOperation('worktree', {
          workflowId,
          taskQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [{ ...input, ...asked }],
        }),
      });
    },
    resume: async () => {
      const args = [{ ...input, actor: 'reconcile', request: null }];
      await temporal.client.workflow.start('worktree', { workflowId, taskQueue, args });
    },
    cancel: () => temporal.client.workflow.getHandle(workflowId).cancel(),
  };
  await host.runUntil(board.runUntil(body(operated)));
}

/** An activity that waits until the test lets it continue. */
function gate<T>(result: T): { wait: () => Promise<T>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { wait: () => opened.then(() => result), open };
}

describe('the worktree workflow', () => {
  test('an operation is decided and written down, then done, then inspected', async () => {
    await withWorktree({}, async ({ ask, calls }) => {
      await expect(ask({ kind: 'rebase' })).resolves.toEqual({ status: 'done', inspection });
      expect(calls).toEqual(['planWorktree', 'beginWorktree', 'rebaseWorktree', 'inspect']);
    });
  });

  test('a new worktree is made in one go, and inspected only where that adds something', async () => {
    await withWorktree({}, async ({ ask, calls }) => {
      await expect(ask({ kind: 'create' })).resolves.toEqual({ status: 'done', inspection });
      expect(calls).toEqual(['planWorktree', 'createWorktree']);
    });
    await withWorktree({ createWorktree: to('ready') }, async ({ ask, calls }) => {
      await expect(ask({ kind: 'create' })).resolves.toEqual({ status: 'done', inspection });
      expect(calls).toEqual(['planWorktree', 'createWorktree', 'inspect']);
    });
  });

  test('a creation that fails for good stops once it is recorded, and is refused before', async () => {
    const createWorktree = () => Promise.reject(ApplicationFailure.nonRetryable('disk full', 'failed'));
    await withWorktree({ createWorktree }, async ({ ask, calls }) => {
      await expect(ask({ kind: 'create' })).resolves.toMatchObject({ code: 'WORKTREE_GIT_FAILED' });
      expect(calls).not.toContain('recordInterruption');
    });
    let written = { hostId: '', operationId: '' };
    const afterWriting = (beginning: Beginning) => {
      written = { ...written, operationId: beginning.operationId };
      return createWorktree();
    };
    const planWorktree = async () => {
      const unfinished = { ...written, kind: 'create' as const, state: 'preparing' as const };
      return { hostId: written.hostId, target: null, unfinished: written.operationId ? unfinished : null };
    };
    await withWorktree({ createWorktree: afterWriting, planWorktree }, async ({ ask, hostId }) => {
      written = { hostId, operationId: '' };
      await expect(ask({ kind: 'create' })).resolves.toMatchObject({ code: 'WORKTREE_INTERRUPTED' });
    });
  });

  test('a merge that commits first goes through committing', async () => {
    await withWorktree({ beginWorktree: async () => ({ state: 'committing' }) }, async ({ calls, ask }) => {
      await ask({ kind: 'merge', commit: true });
      expect(calls.filter((name) => /commit|integrate/.test(name))).toEqual(['commitWorktree', 'integrateBranch']);
    });
  });

  test('a merge goes through merging, pushing and integrated', async () => {
    await withWorktree({ beginWorktree: to('merging') }, async ({ ask, calls }) => {
      await ask({ kind: 'merge' });
      expect(calls.slice(2)).toEqual(['integrateBranch', 'pushMerge', 'finishMerge', 'inspect']);
    });
  });

  test('the same operation asked for twice is one; another one is refused with the one that runs', async () => {
    const making = gate({ state: 'ready' as const });
    await withWorktree({ createWorktree: making.wait }, async ({ ask, calls }) => {
      const first = ask({ kind: 'create' }, 'jo');
      await eventually(() => expect(calls).toContain('createWorktree'));
      const second = ask({ kind: 'create', leaseSeconds: 60 });
      await expect(ask({ kind: 'rebase' })).rejects.toMatchObject({
        cause: { type: 'WORKTREE_BUSY', details: [{ kind: 'create', actor: 'jo' }] },
      });
      making.open();
      expect(await second).toEqual(await first);
      expect(calls.filter((name) => name === 'createWorktree')).toHaveLength(1);
    });
  });

  test('what git refuses for good is recorded as an interruption', async () => {
    const pushMerge = () => Promise.reject(ApplicationFailure.nonRetryable('no route', 'push-failed'));
    await withWorktree({ beginWorktree: to('merging'), pushMerge }, async ({ ask, calls }) => {
      const outcome = await ask({ kind: 'merge' });
      expect(outcome).toMatchObject({ code: 'WORKTREE_INTERRUPTED', details: { code: 'push-failed' } });
      expect(calls).not.toContain('finishMerge');
    });
  });

  test('an interrupted operation is finished before another one begins', async () => {
    const unfinished = { operationId: 'op_1', kind: 'merge' as const, state: 'pushing' as const };
    await withWorktree({ plan: { unfinished }, beginWorktree: to('rebasing') }, async ({ ask, calls }) => {
      await expect(ask({ kind: 'rebase' })).resolves.toMatchObject({ status: 'done' });
      expect(calls).toEqual([
        'planWorktree',
        'pushMerge',
        'finishMerge',
        'planWorktree',
        'beginWorktree',
        'rebaseWorktree',
        'inspect',
      ]);
    });
  });

  test('an operation that is asked for while another is resumed follows it', async () => {
    const unfinished = { operationId: 'op_1', kind: 'rebase' as const, state: 'rebasing' as const };
    const rebasing = gate({ state: 'ready' as const });
    await withWorktree(
      { plan: { unfinished }, rebaseWorktree: rebasing.wait, beginWorktree: to('cleanup') },
      async ({ ask, resume, calls }) => {
        await resume();
        await eventually(() => expect(calls).toContain('rebaseWorktree'));
        const removal = ask({ kind: 'cleanup', force: false });
        rebasing.open();
        await expect(removal).resolves.toMatchObject({ status: 'done' });
        expect(calls.slice(-3)).toEqual(['beginWorktree', 'removeWorktree', 'inspect']);
      },
    );
  });

  test("an operator's cancel is heeded until git is touched", async () => {
    const deciding = gate({ state: 'rebasing' as const });
    await withWorktree({ beginWorktree: deciding.wait }, async ({ ask, cancel, calls }) => {
      const asked = ask({ kind: 'rebase' });
      await eventually(() => expect(calls).toContain('beginWorktree'));
      await cancel();
      deciding.open();
      await expect(asked).resolves.toMatchObject({ code: 'WORKTREE_CANCELLED' });
      expect(calls).not.toContain('rebaseWorktree');
    });
  });
});
