import { runEnded } from '../../../workflows/agent-run/messages';
import { endedAt, lost, rejection, stubbedRuns, untilCancelled } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

const lostAfterwards = async () => {
  await untilCancelled();
  return lost();
};

describe('a run whose time is up', () => {
  const { run: aRun } = stubbedRuns();
  const timedOut = { by: 'timeout', afterMs: 400 };

  test.each([
    ['on a host', undefined],
    ['elsewhere', null],
  ])('is ended %s, and reports why', async (_where, hostId) => {
    const finish = async () => ({ status: 'failed' as const, endedAt });
    const options = { timeoutMs: 400, ...(hostId === undefined ? {} : { hostId }) };
    const run = aRun({ dispatch: untilCancelled, finish }, options);
    await expect(run.launch()).resolves.toMatchObject({ status: 'running' });
    await expect(run.handle.result()).resolves.toMatchObject({ status: 'failed' });
    expect(run.endings).toEqual([timedOut]);
    expect(run.steps).not.toContain('reclaim');
    const details = await run.details();
    expect(details).toContain('Its time is up.');
    expect(details).toContain('It took longer than it may; the run is failed.');
  });

  test('reports whether the host of its lost worker could be cleaned up', async () => {
    const reclaimed = aRun({ dispatch: lostAfterwards }, { timeoutMs: 400 });
    const unavailable = aRun({ dispatch: lostAfterwards, reclaim: lost }, { timeoutMs: 400 });
    await Promise.all([reclaimed.launch(), unavailable.launch()]);
    await Promise.all([reclaimed.handle.result(), unavailable.handle.result()]);
    expect(reclaimed.endings).toEqual([{ ...timedOut, hostReclaimed: true }]);
    expect(unavailable.endings).toEqual([{ ...timedOut, hostReclaimed: false }]);
  });

  test('ended for that reason also when its agent reported an end to its host', async () => {
    const run = aRun({ dispatch: lostAfterwards, reclaim: async () => ({ claimed: true }) }, { timeoutMs: 400 });
    await run.launch();
    await run.handle.result();
    expect(run.endings).toEqual([timedOut]);
  });

  test('accepts no command while it is ended', async () => {
    const finishing = gate({ status: 'failed' as const, endedAt });
    const run = aRun({ dispatch: untilCancelled, finish: finishing.wait }, { timeoutMs: 400 });
    await run.launch();
    await run.called('finish');
    expect(await rejection(run.command())).toBe(runEnded);
    finishing.open();
    await run.handle.result();
  });

  test('is not ended by the time limit once its agent has ended', async () => {
    const run = aRun({}, { timeoutMs: 60_000 });
    await run.launch();
    await run.handle.result();
    expect(run.endings).toEqual([{ by: 'agent' }]);
  });
});
