import type { Admitted } from '../../../activities/agent-run/admission/activities';
import { createRunLauncher } from '../../../workflows/agent-run/client';
import { launchNow } from '../../../workflows/agent-run/launch-client';
import { someProofs } from '../../support/stack/proofs';
import { endedAt, lost, refusedWith, stubbedRuns, untilCancelled } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

describe('the launch of a run', () => {
  const { workers, run: aRun } = stubbedRuns();

  test('admits, prepares, dispatches and finishes it, once each and in this order', async () => {
    const run = aRun();
    await expect(run.launch()).resolves.toMatchObject({ status: 'running', attemptId: run.attemptId });
    await expect(run.handle.result()).resolves.toEqual({ attemptId: run.attemptId, status: 'success', endedAt });
    expect(run.steps).toEqual(['admit', 'prepare', 'dispatch', 'finish']);
    expect(run.stubs.inputs('finish')).toEqual([
      expect.objectContaining({ attemptId: run.attemptId, ending: { by: 'agent' } }),
    ]);
  });

  test('prepares and dispatches on the queue of its host, and records on that of the board', async () => {
    const run = aRun();
    await run.launch();
    await run.handle.result();
    const queues = Object.fromEntries(run.stubs.calls.map(({ name, taskQueue }) => [name, taskQueue]));
    expect(queues).toMatchObject({
      admit: workers.boardQueue,
      prepare: workers.hostQueue,
      dispatch: workers.hostQueue,
      finish: workers.boardQueue,
    });
  });

  test('has its store work done by the worker of its workflow, without a task of the queue', async () => {
    const run = aRun();
    await run.launch();
    await run.handle.result();
    const { events } = await run.handle.fetchHistory();
    const queued = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(queued?.filter(Boolean)).toEqual(['prepare', 'dispatch']);
    await expect(run.attributes()).resolves.toEqual({
      ...{ agent: 'example', provider: 'process', phase: 'implement', runState: 'success' },
    });
  });

  test('leaves store work to the queue that fails in the worker of its workflow', async () => {
    let admissions = 0;
    let ends = 0;
    const firstFails = <T>(count: number, value: T): T => {
      if (count === 1) {
        throw new Error('The stores are away.');
      }
      return value;
    };
    const run: ReturnType<typeof aRun> = aRun({
      admit: async () => firstFails((admissions += 1), run.admitted),
      finish: async () => firstFails((ends += 1), { status: 'success', endedAt }),
    });
    await expect(run.launch()).resolves.toMatchObject({ status: 'running' });
    await expect(run.handle.result()).resolves.toMatchObject({ status: 'success' });
    expect(run.steps).toEqual(['admit', 'admit', 'prepare', 'dispatch', 'finish', 'finish']);
  });

  test('runs an agent without a host on the queue of the board, also when it could be reattached', async () => {
    const run = aRun({ dispatch: lost }, { hostId: null, provider: 'process', reattach: true });
    await run.launch();
    await run.handle.result();
    const byBoard = run.stubs.calls.filter(({ taskQueue }) => taskQueue === workers.boardQueue);
    expect(byBoard).toHaveLength(run.stubs.calls.length);
    expect(run.steps).toEqual(['admit', 'prepare', 'dispatch', 'reclaim', 'finish']);
    expect(await run.details()).toContain('The contract is stored; the agent runs on the board.');
  });

  test('requested twice is one run with one response', async () => {
    const run = aRun({ dispatch: untilCancelled });
    const [first, second] = await Promise.all([run.launch(), run.launch()]);
    expect(second).toEqual(first);
    expect(run.stubs.inputs('admit')).toHaveLength(1);
    await run.stop();
  });

  test('that is refused returns the refusal and runs nothing', async () => {
    const refusal = refusedWith('RUN_ACTIVE');
    const admit = async (): Promise<Admitted> => ({
      ...{ provider: '', agent: '', phase: '', hostId: null },
      decidedAt: endedAt,
      launch: refusal,
    });
    const run = aRun({ admit });
    await expect(run.launch()).resolves.toEqual(refusal);
    const end = { attemptId: run.attemptId, status: 'refused', endedAt, refusal };
    await expect(run.handle.result()).resolves.toEqual(end);
    expect(run.stubs.names()).toEqual(['admit']);
    expect(await run.details()).toContain('Refused with RUN_ACTIVE: It is RUN_ACTIVE.');
  });

  test('whose request was lost with Temporal, and that is repeated when it was refused, returns the refusal', async () => {
    const refusal = refusedWith('RUN_NOT_READY');
    const admitted = { provider: '', agent: '', phase: '', hostId: null, decidedAt: endedAt, launch: refusal };
    const run = aRun({ admit: async () => admitted });
    await run.start();
    await run.handle.result();
    const { client } = workers.temporal;
    await expect(launchNow(client, someProofs())(run.input)).resolves.toEqual(refusal);
    const asked = createRunLauncher(client, () => Promise.reject(new Error('No host is asked.')), someProofs());
    await expect(asked.launch(run.input)).resolves.toEqual(refusal);
  });

  test('that cannot be prepared is abandoned, so that it holds nothing', async () => {
    const refusal = refusedWith('RUN_ACTIVE');
    const run = aRun({ prepare: async () => refusal });
    await expect(run.launch()).resolves.toEqual(refusal);
    await run.handle.result();
    expect(run.stubs.names()).toEqual(['admit', 'prepare', 'abandon']);
    expect(run.stubs.inputs('abandon')).toEqual([{ attemptId: run.attemptId, launch: refusal }]);
  });

  test.each([
    ['its host', undefined],
    ['the board', null],
  ])('is refused when %s does not prepare it', async (_name, hostId) => {
    const run = aRun({ prepare: lost }, hostId === undefined ? {} : { hostId });
    const name = hostId === undefined ? workers.hostId : 'board';
    await expect(run.launch()).resolves.toEqual({
      status: 'refused',
      code: 'HOST_UNAVAILABLE',
      message: `The host ${name} did not prepare the run; start a worker on it and launch again.`,
      details: { hostId: hostId === undefined ? workers.hostId : null },
    });
    await run.handle.result();
    expect(run.steps).toEqual(['admit', 'prepare', 'abandon']);
  });

  test('that is stopped before it is prepared starts nothing', async () => {
    const admitted = {
      provider: 'process',
      agent: 'example',
      phase: 'implement',
      hostId: workers.hostId,
      decidedAt: '',
    };
    const admitting = gate(admitted);
    const run = aRun({ admit: admitting.wait });
    await run.launchUntil('admit');
    const stopped = run.stop();
    await run.called('attributeStop');
    admitting.open();
    await stopped;
    expect(run.steps).toEqual(['admit', 'attributeStop', 'finish']);
    expect(run.endings).toEqual([{ by: 'stop', actor: 'test' }]);
  });

  test('shows operators what it runs, where and how it ended', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    await run.called('dispatch');
    await expect(run.attributes()).resolves.toEqual({
      ...{ agent: 'example', provider: 'process', phase: 'implement' },
      runState: 'running',
    });
    expect(await run.details()).toContain(
      `**running** · task \`${run.taskId}\` · attempt \`${run.attemptId}\` · agent \`example\` · provider \`process\``,
    );
    expect(await run.details()).toContain(`The contract is stored; the agent runs on ${workers.hostId}.`);
    await run.stop('jo');
    await run.handle.result();
    await expect(run.attributes()).resolves.toMatchObject({ runState: 'success' });
  });
});
