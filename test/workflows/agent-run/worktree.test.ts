import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import { eventually } from '../../../platform/testing/eventually';
import { worktreeId } from '../../../workflows/worktree/messages';
import { digests, endedAt, refusedWith, type StubbedRun, stubbedRuns } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

const started: LaunchOutcome = {
  ...{ status: 'running', taskId: 't', attemptId: 'a', agent: 'example', provider: 'process' },
  startedAt: endedAt,
  ...digests,
};

/** Prepares a launch once its worktree is there. */
const preparedAfter = (refusals: string[]) => {
  const left = [...refusals];
  return async (): Promise<LaunchOutcome> => {
    const code = left.shift();
    return code === undefined ? started : refusedWith(code);
  };
};

describe('the worktree of a run', () => {
  const { workers, run: aRun } = stubbedRuns();
  const preparations = (run: StubbedRun) => run.stubs.inputs('prepare').length;
  const worktreeOf = (run: StubbedRun) => workers.temporal.client.workflow.getHandle(worktreeId(run.taskId));

  test.each(['WORKTREE_MISSING', 'WORKTREE_BUSY'])('is created when the launch is refused with %s', async (code) => {
    const run = aRun({ prepare: preparedAfter([code]) });
    await expect(run.launch()).resolves.toMatchObject({ status: 'running' });
    await run.handle.result();
    expect(run.steps).toEqual([
      ...['admit', 'prepare', 'planWorktree', 'createWorktree', 'prepare'],
      ...['dispatch', 'finish'],
    ]);
    expect(run.stubs.inputs('planWorktree')).toEqual([
      expect.objectContaining({
        ...{ taskId: run.taskId, kind: 'create', hostId: workers.hostId },
        asked: { actor: `run:${run.attemptId}`, request: { kind: 'create' } },
      }),
    ]);
  });

  test('is not created for a launch that is refused for another reason', async () => {
    const run = aRun({ prepare: preparedAfter(['RUN_ACTIVE']) });
    await expect(run.launch()).resolves.toMatchObject({ code: 'RUN_ACTIVE' });
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'prepare', 'abandon']);
  });

  test('is not created without a host', async () => {
    const run = aRun({ prepare: preparedAfter(['WORKTREE_MISSING']) }, { hostId: null });
    await expect(run.launch()).resolves.toMatchObject({ code: 'WORKTREE_MISSING' });
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'prepare', 'abandon']);
  });

  test('that cannot be created refuses the launch with the reason', async () => {
    const refusal = refusedWith('BASE_STALE');
    const run = aRun({ prepare: preparedAfter(['WORKTREE_MISSING']), planWorktree: async () => refusal });
    await expect(run.launch()).resolves.toEqual(refusal);
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'prepare', 'planWorktree', 'abandon']);
  });

  test('is waited for while another operation runs on it', async () => {
    const creating = gate({ state: 'ready' as const });
    const run = aRun({ prepare: preparedAfter(['WORKTREE_BUSY']), createWorktree: creating.wait });
    const args = [{ taskId: run.taskId, actor: 'jo', request: { kind: 'create' }, heartbeatTimeoutMs: 30_000 }];
    await workers.temporal.client.workflow.start('worktree', {
      workflowId: worktreeId(run.taskId),
      taskQueue: workers.boardQueue,
      args,
    });
    await run.called('createWorktree');
    const launch = run.launch();
    await eventually(async () => {
      const { events } = await run.handle.fetchHistory();
      expect(events?.some((event) => event.startChildWorkflowExecutionFailedEventAttributes)).toBe(true);
    });
    await run.details();
    expect(preparations(run)).toBe(1);
    creating.open();
    await expect(launch).resolves.toMatchObject({ status: 'running' });
    await run.handle.result();
    expect(preparations(run)).toBe(2);
    expect(run.stubs.inputs('createWorktree')).toHaveLength(2);
  });

  test('whose operation an operator terminated is inspected by the run itself', async () => {
    const creating = gate({ state: 'ready' as const });
    const run = aRun({ prepare: preparedAfter(['WORKTREE_MISSING']), createWorktree: creating.wait });
    const launch = run.launch();
    await run.called('createWorktree');
    await worktreeOf(run).terminate('an operator');
    await expect(launch).resolves.toMatchObject({ status: 'running' });
    await run.handle.result();
    expect(preparations(run)).toBe(2);
    expect(run.stubs.inputs('createWorktree')).toHaveLength(1);
  });
});
