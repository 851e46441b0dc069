import {
  completeUpdate,
  launchUpdate,
  notRemote,
  notRunning,
  type OrphanedRun,
} from '../../../workflows/agent-run/messages';
import {
  digests,
  endedAt,
  lost,
  rejection,
  type RunActivities,
  type StubbedRun,
  stubbedRuns,
  untilCancelled,
} from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

const reason = 'The workflow of the run was lost.';

describe('an attempt whose workflow was lost', () => {
  const { workers, run: aRun } = stubbedRuns();

  /** Adopts the attempt, and waits for its end. */
  async function adopt(found: Partial<OrphanedRun>, activities: Partial<RunActivities> = {}): Promise<StubbedRun> {
    const run = aRun(activities);
    await run.start(found);
    await run.handle.result();
    return run;
  }

  test('is not changed when it has ended meanwhile', async () => {
    const run = aRun({ endOf: async () => ({ attemptId: run.attemptId, status: 'failed', endedAt }) });
    await run.start({});
    await expect(run.handle.result()).resolves.toEqual({ attemptId: run.attemptId, status: 'failed', endedAt });
    expect(run.steps).toEqual(['endOf']);
  });

  test('is launched when it was not prepared', async () => {
    const run = await adopt({ next: 'launch' });
    expect(run.steps).toEqual(['endOf', 'admit', 'prepare', 'dispatch', 'finish']);
    expect(run.endings).toEqual([{ by: 'agent' }]);
  });

  test('ends as lost, with its host reclaimed and its agent shown', async () => {
    const run = await adopt({ agent: 'other', provider: 'acp', phase: 'verify' });
    expect(run.steps).toEqual(['endOf', 'reclaim', 'finish']);
    expect(run.stubs.calls[1]).toEqual({
      name: 'reclaim',
      input: { attemptId: run.attemptId, force: false },
      taskQueue: workers.hostQueue,
    });
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: true }]);
    await expect(run.attributes()).resolves.toMatchObject({ agent: 'other', provider: 'acp', phase: 'verify' });
    const details = await run.details();
    expect(details).toContain('agent `other` · provider `acp`');
    expect(details).toContain('- Its workflow was lost.');
  });

  test('is reclaimed by force when an operator terminated it', async () => {
    const run = await adopt({ terminated: true });
    expect(run.stubs.inputs('reclaim')).toEqual([{ attemptId: run.attemptId, force: true }]);
    expect(run.endings).toEqual([
      { by: 'lost', reason: 'The workflow of the run was terminated.', hostReclaimed: true },
    ]);
    expect(await run.details()).toContain('- Its workflow was terminated.');
  });

  test('reports when its host could not be reclaimed', async () => {
    const run = await adopt({}, { reclaim: lost });
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: false }]);
    expect(run.stubs.inputs('reclaim')).toHaveLength(1);
  });

  test('ended with its agent when the host has its end', async () => {
    const run = await adopt({}, { reclaim: async () => ({ claimed: true }) });
    expect(run.endings).toEqual([{ by: 'agent' }]);
  });

  test('is neither reattached nor reclaimed when it was not dispatched', async () => {
    const run = await adopt({ dispatched: false, reattach: true });
    expect(run.steps).toEqual(['endOf', 'finish']);
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: true }]);
  });

  test('leaves an agent elsewhere alone, which no worker can end', async () => {
    const run = await adopt({ provider: 'remote-callback', reattach: true });
    expect(run.steps).toEqual(['endOf', 'finish']);
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: false }]);
  });

  test('elsewhere that was not dispatched has left nothing', async () => {
    const run = await adopt({ provider: 'remote-callback', dispatched: false });
    expect(run.endings).toEqual([{ by: 'lost', reason, hostReclaimed: true }]);
  });

  test('is resumed by a worker that reattaches its agent', async () => {
    const run = await adopt({ reattach: true }, { reattach: async () => ({ claimed: true }) });
    expect(run.steps).toEqual(['endOf', 'reattach', 'finish']);
    expect(run.endings).toEqual([{ by: 'agent' }]);
    expect(await run.details()).toContain('The agent may have outlived its worker.');
  });

  test('is reclaimed when its agent is gone, and reports why', async () => {
    const run = await adopt({ reattach: true });
    expect(run.steps).toEqual(['endOf', 'reattach', 'reclaim', 'finish']);
    expect(run.endings).toEqual([
      {
        by: 'lost',
        reason: 'The workflow of the run was lost, and the agent with it: process-not-found.',
        hostReclaimed: true,
      },
    ]);
  });

  test('is stopped while its agent is reattached', async () => {
    const reattach = async () => {
      await untilCancelled();
      return { claimed: true as const };
    };
    const run = aRun({ reattach });
    await run.start({ reattach: true });
    await run.called('reattach');
    await run.stop('jo');
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
    expect(run.steps).not.toContain('reclaim');
  });

  test('waits for the report of an agent elsewhere', async () => {
    const run = aRun();
    await run.start({ next: 'callback', provider: 'remote-callback', hostId: null });
    await expect(run.handle.executeUpdate(launchUpdate)).resolves.toMatchObject({ status: 'running', ...digests });
    expect(await run.details()).toContain('The agent works elsewhere and may still report.');
    const claim = { attemptId: run.attemptId, claimDigest: 'sha256:a' };
    await expect(run.handle.executeUpdate(completeUpdate, { args: [claim] })).resolves.toMatchObject({
      status: 'success',
    });
    expect(run.steps).toEqual(['endOf', 'requireClaim', 'finish']);
    expect(run.endings).toEqual([{ by: 'callback', claimDigest: 'sha256:a' }]);
  });

  /** One whose host is being reclaimed, until the test opens the gate. */
  async function reclaimed(found: { launch?: undefined } = {}) {
    const reclaiming = gate({ claimed: false });
    const run = aRun({ reclaim: reclaiming.wait });
    await run.start(found);
    await run.called('reclaim');
    const end = async () => {
      reclaiming.open();
      await run.handle.result();
    };
    return { run, end };
  }

  test('accepts commands again, and no completion of another', async () => {
    const { run, end } = await reclaimed();
    await expect(run.command()).resolves.toMatchObject({ delivered: true });
    const claim = { attemptId: run.attemptId, claimDigest: 'sha256:a' };
    expect(await rejection(run.handle.executeUpdate(completeUpdate, { args: [claim] }))).toBe(notRemote);
    await end();
  });

  test('accepts no command when its contract was not stored', async () => {
    const { run, end } = await reclaimed({ launch: undefined });
    expect(await rejection(run.command())).toBe(notRunning);
    await end();
  });
});
