import { eventually } from '../../../platform/testing/eventually';
import { reconcileId } from '../../../workflows/reconcile/messages';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('watchdog of a run', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('circling', '6', '2'),
      { ...scriptAgent('circling', '1', '0', '45000'), type: 'expensive' },
      scriptAgent('worker-bee'),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(() => stack.close());

  interface Run {
    taskId: string;
    attemptId: string;
  }

  async function launch(agent: string): Promise<Run> {
    const { id: taskId } = await stack.call.createTask({ title: 'Go in circles', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(taskId, { agent });
    return { taskId, attemptId };
  }

  const inspect = ({ taskId, attemptId }: Run) =>
    stack.call.ok('GET', `/api/agents/${taskId}/watchdog?attemptId=${attemptId}`);
  const override = ({ taskId, attemptId }: Run, findingId: string, resolution: string, reason = 'I looked at it') =>
    stack.call.post(`/api/agents/${taskId}/watchdog/${findingId}/override`, { attemptId, resolution, reason });
  const stop = ({ taskId, attemptId }: Run) => stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

  /** Waits until there are so many findings, and nothing about them is still being done. */
  const settled = (run: Run, findings: number) =>
    eventually(
      async () => {
        const found = await inspect(run);
        expect(found.findings).toHaveLength(findings);
        // An action is recorded after its finding, and carried out after that.
        expect(found.actions).toHaveLength(findings);
        const open = found.actions.filter(
          (action: { state: string; reason?: string }) => action.state === 'requested' && !action.reason,
        );
        expect(open).toEqual([]);
        return found;
      },
      { everyMs: 50 },
    );

  test('a run that goes in circles is warned of, steered, and paused at last', async () => {
    const run = await launch('circling');
    const { findings, actions, overrides } = await settled(run, 3);
    expect(
      findings.map(({ detector, confidence }: { detector: string; confidence: string }) => `${detector} ${confidence}`),
    ).toEqual(['identical-repetition low', 'identical-repetition medium', 'identical-repetition high']);
    expect(actions).toMatchObject([
      { findingId: findings[0].id, action: 'warn', state: 'completed' },
      { findingId: findings[1].id, action: 'require-observation', state: 'completed' },
      { findingId: findings[2].id, action: 'pause', state: 'completed' },
    ]);
    expect(overrides).toEqual([]);

    const events = await stack.call.events(run.taskId, run.attemptId);
    const reported = events.filter(({ payload }) => payload.watchdog !== undefined);
    expect(reported.map(({ payload }) => payload.watchdog.findingId)).toEqual(
      findings.map(({ id }: { id: string }) => id),
    );
    expect(events.find(({ kind }) => kind === 'conversation.steered')).toMatchObject({
      payload: { sentBy: 'system:watchdog', delivered: true },
    });
    expect(events.find(({ kind }) => kind === 'conversation.interrupted')).toMatchObject({
      payload: { sentBy: 'system:watchdog', delivered: true },
    });
    await stop(run);
    expect((await inspect(run)).findings).toHaveLength(3);
  });

  test('a finding is decided once: the same again is the same, another decision conflicts', async () => {
    const run = await launch('circling');
    const { findings } = await settled(run, 3);
    const [first] = findings;
    expect(await override(run, first.id, 'continue')).toMatchObject({
      status: 200,
      body: { findingId: first.id, resolution: 'continue', state: 'completed', actor: expect.any(String) },
    });
    expect(await override(run, first.id, 'continue', 'again')).toMatchObject({
      status: 200,
      body: { reason: 'I looked at it' },
    });
    const audit = `/api/audit?action=watchdog.override&resource=${run.attemptId}`;
    expect(await stack.call.ok('GET', audit)).toMatchObject({
      entries: [{ details: { findingId: first.id, resolution: 'continue', reason: 'I looked at it' } }],
    });
    const other = await override(run, first.id, 'cancel');
    expect(other).toMatchObject({
      status: 409,
      body: { code: 'WATCHDOG_RESOLVED', details: { current: { resolution: 'continue' } } },
    });
    const decisions = await Promise.all(['acknowledge', 'continue'].map((one) => override(run, findings[1].id, one)));
    expect(decisions.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await inspect(run)).overrides).toHaveLength(2);
    expect((await stack.call.status(run.taskId)).running).toBe(true);
    await stop(run);
    expect(await override(run, findings[2].id, 'cancel')).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
    expect(await override(run, findings[2].id, 'acknowledge')).toMatchObject({ status: 200 });
  });

  test('after a person let it continue, the watchdog counts again', async () => {
    const run = await launch('circling');
    const { findings } = await settled(run, 3);
    // It was paused: to continue it is to send it a message, and it does twice more what it does at every message.
    await override(run, findings[0].id, 'continue');
    await stack.call.ok('POST', `/api/agents/${run.taskId}/message`, { attemptId: run.attemptId, message: 'again' });
    await eventually(async () => {
      const events = await stack.call.events(run.taskId, run.attemptId);
      expect(events.filter(({ kind }) => kind === 'tool.completed')).toHaveLength(6 + 2 + 2 + 2);
    });
    expect((await inspect(run)).findings).toHaveLength(3);
    await stop(run);
  });

  test('to cancel stops the run, and reports it again', async () => {
    const run = await launch('circling');
    const { findings } = await settled(run, 3);
    expect(await override(run, findings[0].id, 'cancel')).toMatchObject({ status: 200, body: { state: 'completed' } });
    const { attempt } = await stack.call.status(run.taskId);
    expect(attempt.completion).toMatchObject({ status: 'interrupted', terminalSource: 'operator-interruption' });
    expect(await override(run, findings[0].id, 'cancel')).toMatchObject({ status: 200, body: { state: 'completed' } });
  });

  test('an agent that burns tokens without doing anything is paused', async () => {
    const run = await launch('expensive');
    const { findings, actions } = await settled(run, 1);
    expect(findings).toMatchObject([
      { detector: 'no-durable-progress', confidence: 'high', evidence: { unit: 'tokens', observed: 45_000 } },
    ]);
    expect(actions).toMatchObject([{ action: 'pause', state: 'completed' }]);
    expect(await override(run, findings[0].id, 'continue', 'finish')).toMatchObject({
      status: 200,
      body: { state: 'completed' },
    });
    const { attempt } = await stack.call.ended(run.taskId);
    expect(attempt.completion).toMatchObject({ status: 'success', summary: 'Told to finish.' });
  });

  test('a run that works is left alone', async () => {
    const run = await launch('worker-bee');
    await stack.call.ended(run.taskId);
    expect(await inspect(run)).toEqual({ ...run, findings: [], actions: [], overrides: [] });
  });

  test('findings are found only through their own attempt, and requests are checked', async () => {
    const run = await launch('circling');
    const { findings } = await settled(run, 3);
    const other = await launch('worker-bee');
    await stack.call.ended(other.taskId);
    expect(await override(other, findings[0].id, 'acknowledge')).toMatchObject({ status: 404 });
    const elsewhere = await stack.call.get(`/api/agents/${other.taskId}/watchdog?attemptId=${run.attemptId}`);
    expect(elsewhere.status).toBe(404);
    expect(await stack.call.get(`/api/agents/${run.taskId}/watchdog`)).toMatchObject({ status: 400 });
    expect(await override(run, 'watchdog_nonsense', 'acknowledge')).toMatchObject({ status: 400 });
    expect(await override(run, findings[0].id, 'ignore')).toMatchObject({ status: 400 });
    expect(await override(run, findings[0].id, 'acknowledge', '')).toMatchObject({ status: 400 });
    await stop(run);
  });

  test('an agent elsewhere is watched over what it reports, and what is found waits for a person', async () => {
    const run = await launch('elsewhere');
    const report = { attemptId: run.attemptId, inputTokens: 30_000, outputTokens: 15_000, cost: 3 };
    await stack.call.ok('POST', `/api/agents/${run.taskId}/tokens`, report);
    const lookNow = () => stack.temporal.schedule.getHandle(reconcileId).trigger();
    const found = await eventually(
      async () => {
        await lookNow();
        const inspection = await inspect(run);
        expect(inspection.findings).toMatchObject([{ detector: 'no-durable-progress', confidence: 'high' }]);
        expect(inspection.actions).toMatchObject([{ action: 'pause', state: 'requested', reason: expect.any(String) }]);
        return inspection;
      },
      { everyMs: 500 },
    );
    await lookNow();
    expect((await override(run, found.findings[0].id, 'cancel')).status).toBe(200);
    expect((await inspect(run)).findings).toEqual(found.findings);
    await stack.call.ended(run.taskId);
  });
});
