import { capacityReserved } from '../../../workflows/agent-run/messages';
import { refusedWith, stubbedRuns } from '../../support/workflows/agent-run';

describe('a queued launch', () => {
  const { run: aRun } = stubbedRuns();

  test('responds at once and is dispatched when it has capacity', async () => {
    const run = aRun({}, { queued: true });
    await expect(run.launch()).resolves.toMatchObject({ status: 'queued' });
    expect(run.steps).toEqual(['admit']);
    await expect(run.attributes()).resolves.toMatchObject({ runState: 'queued' });
    await run.handle.signal(capacityReserved);
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'confirmDispatch', 'prepare', 'dispatch', 'finish']);
  });

  test('is confirmed after each signal of capacity alone, and waits when it is there no longer', async () => {
    let signals = 0;
    const confirmedAfter: number[] = [];
    const confirmDispatch = async () => {
      confirmedAfter.push(signals);
      return { turn: signals < 3 ? ('wait' as const) : ('go' as const) };
    };
    const run = aRun({ confirmDispatch }, { queued: true });
    await run.launch();
    for (signals = 1; signals <= 3; signals += 1) {
      await run.handle.signal(capacityReserved);
      await run.called('confirmDispatch', signals);
      // What it does next is decided by the time a query is answered.
      await run.details();
    }
    await run.handle.result();
    expect(confirmedAfter).toEqual([1, 2, 3]);
    expect(run.stubs.inputs('prepare')).toHaveLength(1);
  });

  test('is over, without a provider being called, when what it was decided on has changed', async () => {
    const launch = refusedWith('ADMISSION_POLICY_DRIFT');
    const run = aRun({ confirmDispatch: async () => ({ turn: 'refused', launch }) }, { queued: true });
    await run.launch();
    await run.handle.signal(capacityReserved);
    await expect(run.handle.result()).resolves.toMatchObject({ status: 'refused' });
    expect(run.steps).toEqual(['admit', 'confirmDispatch', 'abandon']);
    expect(await run.details()).toContain('Refused with ADMISSION_POLICY_DRIFT');
  });

  test('that is stopped ends without being confirmed or prepared', async () => {
    const run = aRun({}, { queued: true });
    await run.launch();
    await expect(run.stop('jo')).resolves.toMatchObject({ attemptId: run.attemptId });
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'attributeStop', 'finish']);
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
  });

  test('that is stopped while it is confirmed is not prepared', async () => {
    const confirm = { stop: () => Promise.resolve<unknown>(undefined) };
    const run = aRun(
      {
        confirmDispatch: async () => {
          void confirm.stop();
          await run.called('attributeStop');
          return { turn: 'go' };
        },
      },
      { queued: true },
    );
    confirm.stop = () => run.stop('jo');
    await run.launch();
    await run.handle.signal(capacityReserved);
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'confirmDispatch', 'attributeStop', 'finish']);
  });
});
