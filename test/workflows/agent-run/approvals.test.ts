import { eventually } from '../../../platform/testing/eventually';
import { approvalChanged } from '../../../workflows/agent-run/messages';
import { stubbedRuns, untilCancelled } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

describe('requests for approval of a run', () => {
  const { workers, run: aRun } = stubbedRuns();

  test('are shown while they are pending', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    const change = async (approvalId: string, status: 'pending' | 'approved' | 'rejected') => {
      await run.handle.signal(approvalChanged, { approvalId, status });
      return run.details();
    };
    const last = (details: string) => details.split('\n').at(-1);
    expect(last(await change('approval_1', 'pending'))).toBe('- It waits for approval: approval_1.');
    expect(last(await change('approval_2', 'pending'))).toBe('- It waits for approval: approval_1, approval_2.');
    const waiting = await change('approval_1', 'approved');
    expect(last(waiting)).toBe('- It waits for approval: approval_2.');
    expect(waiting).toContain('**waiting-for-approval**');
    await expect(run.attributes()).resolves.toMatchObject({ runState: 'waiting-for-approval' });
    const decided = await change('approval_2', 'rejected');
    expect(last(decided)).toBe('- It goes on after a decision.');
    expect(decided).toContain('**running**');
    await run.stop();
  });

  test('change nothing of a run that has ended', async () => {
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
    await run.handle.signal(approvalChanged, { approvalId: 'approval_1', status: 'pending' });
    delivering.open();
    await open;
    await run.handle.result();
    expect(await run.details()).toContain('**success**');
    expect(await run.details()).not.toContain('waits for approval');
    await expect(run.attributes()).resolves.toMatchObject({ runState: 'success' });
  });

  test('of a long run are shown with the last thirty sentences alone', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    for (let at = 1; at <= 31; at += 1) {
      await run.handle.signal(approvalChanged, { approvalId: `approval_${at}`, status: 'pending' });
    }
    const sentences = (await run.details()).split('\n').filter((line) => line.startsWith('- '));
    expect(sentences).toHaveLength(30);
    expect(sentences[0]).toBe('- It waits for approval: approval_1, approval_2.');
    await run.stop();
  });
});
