import { ApplicationFailure } from '@temporalio/common';
import { messageUnproven } from '../../../platform/crypto/message-proof-shape';
import { eventually } from '../../../platform/testing/eventually';
import { runEnded, staleAttempt, stopUpdate } from '../../../workflows/agent-run/messages';
import { endedAt, lost, rejection, stubbedRuns, untilCancelled } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

describe('stopping a run', () => {
  const { workers, run: aRun } = stubbedRuns();

  test('ends the agent first, and returns the recorded end', async () => {
    const run = aRun({ dispatch: untilCancelled, finish: async () => ({ status: 'interrupted', endedAt }) });
    await run.launch();
    await run.called('dispatch');
    await expect(run.stop('jo')).resolves.toEqual({ attemptId: run.attemptId, status: 'interrupted', endedAt });
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
    const details = await run.details();
    expect(details).toContain('jo asked to stop it.');
    expect(details).toContain('Stopped by jo; the run is interrupted.');
  });

  test('is recorded for the actor that is proven, not for the one that the message names', async () => {
    const attributeStop = async () => ({ actor: 'operator:temporal' });
    const run = aRun({ dispatch: untilCancelled, attributeStop });
    await run.launch();
    await run.called('dispatch');
    await run.stop('jo');
    expect(run.endings).toEqual([{ by: 'stop', actor: 'operator:temporal' }]);
  });

  test('with a message that proves nothing is refused, and the run continues', async () => {
    const attributeStop = async () => Promise.reject(ApplicationFailure.nonRetryable('forged', messageUnproven));
    const run = aRun({ dispatch: untilCancelled, attributeStop });
    await run.launch();
    expect(await rejection(run.stop('jo'))).toBe(messageUnproven);
    expect(run.endings).toEqual([]);
  });

  test('twice is recorded for the one who was first', async () => {
    const finishing = gate({ status: 'interrupted' as const, endedAt });
    const run = aRun({ dispatch: untilCancelled, finish: finishing.wait });
    await run.launch();
    await run.called('dispatch');
    const first = run.stop('jo');
    await run.called('finish');
    const second = run.stop('al');
    await run.called('attributeStop', 2);
    finishing.open();
    expect(await second).toEqual(await first);
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
  });

  test('is refused for another attempt', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    const other = { attemptId: 'attempt_other000', actor: 'test' };
    expect(await rejection(run.handle.executeUpdate(stopUpdate, { args: [other] }))).toBe(staleAttempt);
    expect(run.stubs.inputs('attributeStop')).toEqual([]);
  });

  test('is refused once the end is recorded, while the run waits for an open command', async () => {
    const delivering = gate({ attemptId: 'a', commandId: 'c', action: 'interrupt' as const, delivered: true });
    const acceptCommand = async () => ({ deliverOn: workers.hostQueue });
    const running = gate(undefined);
    const run = aRun({ dispatch: running.wait, acceptCommand, deliverCommand: delivering.wait });
    await run.launch();
    await run.called('announceStart');
    const open = run.command();
    await run.called('deliverCommand');
    running.open();
    await eventually(async () => expect(await run.details()).toContain('**success**'));
    expect(await rejection(run.stop())).toBe(runEnded);
    expect(await rejection(run.command())).toBe(runEnded);
    expect(run.stubs.inputs('attributeStop')).toEqual([]);
    delivering.open();
    await expect(open).resolves.toMatchObject({ delivered: true });
    await run.handle.result();
  });

  test('by an operator in the Temporal UI is a stop with a recorded end, and is audited', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    await run.handle.cancel();
    await run.handle.result();
    expect(run.endings).toEqual([{ by: 'stop', actor: 'operator:temporal' }]);
    expect(run.stubs.inputs('attributeStop')).toEqual([
      expect.objectContaining({ attemptId: run.attemptId, actor: 'operator:temporal' }),
    ]);
  });

  test("lets a caller that waits for the end receive it also after an operator's cancel", async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    const waiting = await run.handle.startUpdate(stopUpdate, {
      args: [{ attemptId: run.attemptId, actor: 'jo' }],
      waitForStage: 'ACCEPTED',
    });
    await run.handle.cancel();
    await expect(waiting.result()).resolves.toMatchObject({ attemptId: run.attemptId });
  });

  test('signals the supervisor of the agent, on the queue of its process', async () => {
    const supervisorQueue = async () => workers.hostQueue;
    const run = aRun({ dispatch: untilCancelled, supervisorQueue });
    await run.launch();
    await run.called('dispatch');
    await run.stop();
    await run.called('endAgent');
    const ended = run.stubs.calls.find(({ name }) => name === 'endAgent');
    expect(ended).toMatchObject({ input: { attemptId: run.attemptId }, taskQueue: workers.hostQueue });
  });

  test('leaves an agent without a supervisor to the cancellation of its activity', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    await run.stop();
    await run.handle.result();
    expect(run.steps).toContain('supervisorQueue');
    expect(run.steps).not.toContain('endAgent');
  });

  test('does not wait for a worker that only Temporal has lost: its host is reclaimed by force', async () => {
    const reclaim = async ({ force }: { force: boolean }) => {
      await (force ? undefined : untilCancelled());
      return { claimed: false };
    };
    const run = aRun({ dispatch: lost, reclaim });
    await run.launch();
    await run.called('reclaim');
    await run.stop('jo');
    expect(run.stubs.inputs('reclaim')).toEqual([
      { attemptId: run.attemptId, force: false },
      { attemptId: run.attemptId, force: true },
    ]);
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
  });

  test('whose agent ends with its worker reclaims the host by force at once, and reattaches nothing', async () => {
    const stoppedThenLost = async () => {
      await untilCancelled();
      return lost();
    };
    const run = aRun({ dispatch: stoppedThenLost }, { reattach: true });
    await run.launch();
    await run.called('dispatch');
    await run.stop('jo');
    expect(run.stubs.inputs('reclaim')).toEqual([{ attemptId: run.attemptId, force: true }]);
    expect(run.steps).not.toContain('reattach');
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
  });

  describe('while an activity reports that nothing waits for', () => {
    /** Holds the report of an activity back until the end is being recorded, and the record until Temporal has the report. */
    function reportOf(name: string, openActivities: () => Promise<string[]>) {
      const ending = gate(undefined);
      const finish = async () => {
        ending.open();
        await eventually(async () => expect(await openActivities()).not.toContain(name));
        return { status: 'interrupted' as const, endedAt };
      };
      return { report: ending.wait, finish };
    }

    test('of the cancelled reclaim, records the end once', async () => {
      const { report, finish } = reportOf('reclaim', () => run.openActivities());
      const reclaim = async ({ force }: { force: boolean }) => {
        await (force ? undefined : report());
        return { claimed: false };
      };
      const run = aRun({ dispatch: lost, reclaim, finish });
      await run.launch();
      await run.called('reclaim');
      await run.stop('jo');
      await run.handle.result();
      expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
    });

    test('of the termination of the agent, records the end once', async () => {
      const { report, finish } = reportOf('endAgent', () => run.openActivities());
      const supervisorQueue = async () => workers.hostQueue;
      const run = aRun({ dispatch: untilCancelled, supervisorQueue, endAgent: report, finish });
      await run.launch();
      await run.called('dispatch');
      await run.stop('jo');
      await run.handle.result();
      expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
    });
  });
});
