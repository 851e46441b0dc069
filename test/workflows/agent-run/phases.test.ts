import { eventually } from '../../../platform/testing/eventually';
import { capacityReserved, phaseChanged } from '../../../workflows/agent-run/messages';
import { stubbedRuns, untilCancelled } from '../../support/workflows/agent-run';

const notice = (sequence: number, phase = 'verify') => ({ phase, sequence, message: `change ${sequence}` });

describe('changes of the phase of a run', () => {
  const { run: aRun } = stubbedRuns();
  const stored = async ({ sequence }: { sequence: number }) => notice(sequence);

  test('are shown, and reach the agent as a command of the run', async () => {
    const run = aRun({ dispatch: untilCancelled, phaseNotice: stored });
    await run.launch();
    await run.called('dispatch');
    await run.handle.signal(phaseChanged, notice(1));
    await run.called('acceptCommand');
    expect(run.stubs.inputs('acceptCommand')).toEqual([
      {
        ...{ attemptId: run.attemptId, type: 'message', message: 'change 1', commandId: 'phase-1' },
        ...{ actor: 'system:phase', sentBy: 'system:phase' },
      },
    ]);
    await eventually(async () => expect(await run.attributes()).toMatchObject({ phase: 'verify' }));
    const details = await run.details();
    expect(details).toContain('phase `verify`');
    expect(details).toContain('It is in the phase verify now.');
    await run.stop();
  });

  test('are read from the stores, whatever the signal states', async () => {
    const run = aRun({ dispatch: untilCancelled, phaseNotice: async () => notice(1, 'explore') });
    await run.launch();
    await run.called('dispatch');
    await run.handle.signal(phaseChanged, notice(1, 'forged'));
    await run.called('acceptCommand');
    await eventually(async () => expect(await run.attributes()).toMatchObject({ phase: 'explore' }));
    await run.stop();
  });

  test('that the stores do not have change nothing', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    await run.handle.signal(phaseChanged, notice(1, 'forged'));
    await run.called('phaseNotice');
    expect(await run.details()).not.toContain('It is in the phase');
    await run.stop();
    await run.handle.result();
    expect(run.steps).not.toContain('acceptCommand');
    await expect(run.attributes()).resolves.toMatchObject({ phase: 'implement' });
  });

  test('that are repeated, or older than the last one, are ignored', async () => {
    const run = aRun({ dispatch: untilCancelled, phaseNotice: stored });
    await run.launch();
    await run.called('dispatch');
    for (const [at, sequence] of [2, 2, 1, 3].entries()) {
      await run.handle.signal(phaseChanged, notice(sequence));
      await run.called('phaseNotice', at + 1);
    }
    await eventually(() =>
      expect(run.stubs.inputs('acceptCommand').map(({ commandId }) => commandId)).toEqual(['phase-2', 'phase-3']),
    );
    await run.stop();
    await run.handle.result();
    expect(run.stubs.inputs('acceptCommand')).toHaveLength(2);
  });

  test('reach the agent once it accepts commands', async () => {
    const run = aRun({ dispatch: untilCancelled, phaseNotice: stored }, { queued: true });
    await run.launch();
    await run.handle.signal(phaseChanged, notice(1));
    await eventually(async () => expect(await run.details()).toContain('It is in the phase verify now.'));
    expect(run.steps).not.toContain('acceptCommand');
    await run.handle.signal(capacityReserved);
    await run.called('acceptCommand');
    expect(run.stubs.names().indexOf('announceStart')).toBeLessThan(run.stubs.names().indexOf('acceptCommand'));
    await run.stop();
  });

  test('are not sent to a run that ends before it has an agent', async () => {
    const run = aRun({ phaseNotice: stored }, { queued: true });
    await run.launch();
    await run.handle.signal(phaseChanged, notice(1));
    await eventually(async () => expect(await run.details()).toContain('It is in the phase verify now.'));
    await run.stop();
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'phaseNotice', 'attributeStop', 'finish']);
  });
});
