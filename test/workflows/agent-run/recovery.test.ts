import type { FinishInput } from '../../../activities/agent-run/completion/activities';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { recoveryId } from '../../../workflows/recovery/messages';
import {
  endedAt,
  lost,
  type RunActivities,
  type StubbedRun,
  stubbedRuns,
  untilCancelled,
} from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';
import { newAttemptId } from '../../support/workflows/ids';

describe('a run whose worker is lost', () => {
  const { workers, run: aRun } = stubbedRuns();
  const resultOf = (workflowId: string) => workers.temporal.client.workflow.getHandle(workflowId).result();

  /** A run that fails, and is retried once. */
  function aRetried(activities: Partial<RunActivities>, options: object = {}): StubbedRun {
    const finish = async ({ attemptId, ending }: FinishInput) =>
      ending.by === 'lost' && attemptId === run.attemptId
        ? { status: 'interrupted' as const, endedAt, retry: { attemptId: run.retryId, retryNumber: 1, backoffMs: 0 } }
        : { status: 'success' as const, endedAt };
    const run = aRun({ finish, ...activities }, options);
    return run;
  }

  const lostAtFirst = () => {
    let dispatches = 0;
    return async () => ((dispatches += 1) === 1 ? lost() : undefined);
  };

  test('because its heartbeat stops has its host reclaimed, and is retried as a new attempt', async () => {
    const silent = gate(undefined);
    let dispatches = 0;
    // The first worker falls silent, as a killed one does; the retry's runs through.
    const dispatch = async () => ((dispatches += 1) === 1 ? silent.wait() : undefined);
    const run = aRetried({ dispatch }, { heartbeatTimeoutMs: 500 });
    await run.launch();
    await expect(run.handle.result()).resolves.toMatchObject({ status: 'interrupted' });
    await resultOf(recoveryId(run.attemptId));
    await expect(resultOf(agentRunId(run.retryId))).resolves.toMatchObject({ status: 'success' });
    expect(run.stubs.inputs('reclaim')).toEqual([{ attemptId: run.attemptId, force: false }]);
    expect(
      run.stubs.inputs('finish').map(({ attemptId, ending }) => [attemptId, (ending as { by: string }).by]),
    ).toEqual([
      [run.attemptId, 'lost'],
      [run.retryId, 'agent'],
    ]);
    expect(await run.details()).toContain(`It is tried again as ${run.retryId}.`);
  });

  test('reports whether its host could be cleaned up', async () => {
    const reclaimed = aRun({ dispatch: lost });
    const unavailable = aRun({ dispatch: lost, reclaim: lost });
    await Promise.all([reclaimed.launch(), unavailable.launch()]);
    await Promise.all([reclaimed.handle.result(), unavailable.handle.result()]);
    const reason = 'The worker that ran the agent was lost.';
    expect(reclaimed.endings).toEqual([{ by: 'lost', reason, hostReclaimed: true }]);
    expect(unavailable.endings).toEqual([{ by: 'lost', reason, hostReclaimed: false }]);
    expect(unavailable.stubs.inputs('reclaim')).toHaveLength(1);
    expect(await reclaimed.details()).toContain(`- ${reason} The run is success.`);
  });

  test('is not run again when its agent had ended before', async () => {
    const run = aRun({ dispatch: lost, reclaim: async () => ({ claimed: true }) });
    await run.launch();
    await run.handle.result();
    expect(run.endings).toEqual([{ by: 'agent' }]);
    expect(run.steps).not.toContain('reattach');
    expect(await run.details()).toContain('The agent ended; the run is success.');
  });

  test('is followed by the retry of the same chain', async () => {
    const rootAttemptId = newAttemptId();
    const retry = { parentAttemptId: newAttemptId(), rootAttemptId, retryNumber: 1 };
    const run = aRetried({ dispatch: lostAtFirst() }, { retry });
    await run.launch();
    await run.handle.result();
    await resultOf(agentRunId(run.retryId)).catch(() => undefined);
    await run.called('finish', 2);
    expect(run.stubs.inputs('admit')[1]).toMatchObject({
      attemptId: run.retryId,
      retry: { parentAttemptId: run.attemptId, rootAttemptId, retryNumber: 1 },
    });
  });

  test('is the root of the chain of its retries', async () => {
    const run = aRetried({ dispatch: lostAtFirst() });
    await run.launch();
    await run.called('finish', 2);
    expect(run.stubs.inputs('admit')[1]).toMatchObject({ retry: { rootAttemptId: run.attemptId } });
  });

  test('has no recovery when none is due', async () => {
    const run = aRun({ dispatch: lost });
    await run.launch();
    await run.handle.result();
    await expect(resultOf(recoveryId(run.attemptId))).rejects.toThrow('not found');
  });
});

describe('a run whose agent may outlive its worker', () => {
  const { run: aRun } = stubbedRuns();
  const reattach = { reattach: true };
  const recoveries = (run: StubbedRun) => run.steps.filter((name) => ['reattach', 'reclaim'].includes(name));

  test('is resumed by the next worker, also when that one is lost', async () => {
    let tries = 0;
    const resumed = async () => {
      tries += 1;
      if (tries === 1) {
        throw new Error('lost as well');
      }
      return { claimed: true as const };
    };
    const run = aRun({ dispatch: lost, reattach: resumed }, reattach);
    await run.launch();
    await expect(run.handle.result()).resolves.toMatchObject({ status: 'success' });
    expect(run.endings).toEqual([{ by: 'agent' }]);
    expect(recoveries(run)).toEqual(['reattach', 'reattach']);
    expect(await run.details()).toContain('Its worker was lost; the next one looks for the agent.');
  });

  test('is reclaimed when the agent is gone, and reports why', async () => {
    const run = aRun({ dispatch: lost }, reattach);
    await run.launch();
    await run.handle.result();
    expect(recoveries(run)).toEqual(['reattach', 'reclaim']);
    const reason = 'The worker that ran the agent was lost, and the agent with it: process-not-found.';
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: true }]);
  });

  test('is reclaimed when its host refuses to reattach', async () => {
    const run = aRun({ dispatch: lost, reattach: lost }, reattach);
    await run.launch();
    await run.handle.result();
    expect(recoveries(run)).toEqual(['reattach', 'reclaim']);
    expect(run.endings).toEqual([
      { by: 'lost', reason: 'The worker that ran the agent was lost.', hostReclaimed: true },
    ]);
  });

  test('is stopped like any other while it is resumed', async () => {
    const resumed = async () => {
      await untilCancelled();
      return { claimed: true as const };
    };
    const run = aRun({ dispatch: lost, reattach: resumed }, reattach);
    await run.launch();
    await run.called('reattach');
    await run.stop();
    expect(run.endings).toEqual([{ by: 'stop', actor: 'test' }]);
    expect(run.steps).not.toContain('reclaim');
  });
});
