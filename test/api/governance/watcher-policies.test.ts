import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('watcher policies API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const path = '/api/watcher-policies';
  const evaluate = (body: object, key = agentKey) => board.call('POST', `${path}/evaluate`, { body, key });
  const set = (watcher: object) => board.call('PATCH', '/api/settings/features', { body: { watcher } });

  it('block every continuation until they are turned on and the kill switch off', async () => {
    expect((await board.call('GET', path, { key: readKey })).body).toEqual({
      ...{
        enabled: false,
        globalKillSwitch: true,
        defaultMode: 'ask_always',
        continueRuns: false,
        maxContinuationsPerRun: 3,
        spendCapUsd: 5,
      },
      riskClasses: expect.arrayContaining(['destructive_command', 'policy_violation']),
    });
    expect((await evaluate({ runId: 'attempt_ab12cd34' })).body).toMatchObject({
      decision: 'blocked',
      riskLevel: 'low',
    });
    await set({ enabled: true });
    expect((await evaluate({ runId: 'attempt_ab12cd34' })).body.decision).toBe('blocked');
    await set({ globalKillSwitch: false });
    expect((await evaluate({ runId: 'attempt_ab12cd34' })).body.decision).toBe('approval');
    await set({ defaultMode: 'auto', spendCapUsd: 7 });
    expect((await evaluate({ runId: 'attempt_ab12cd34' })).body).toMatchObject({
      ...{ decision: 'allow', mode: 'auto', caps: { maxContinuations: 3, spendCapUsd: 7 }, auditLogged: true },
    });
  });

  it('are written down without the prompt', async () => {
    const prompt = 'rm -rf /the-hidden-place';
    const { body } = await evaluate({ runId: 'attempt_written1', agent: 'ant', prompt });
    expect(body.riskClasses).toEqual(['destructive_command']);
    const trace = (await board.call('GET', `/api/governance/traces/${body.traceId}`)).body;
    expect(trace).toMatchObject({ kind: 'policy', subject: { agentId: 'ant', actionType: 'run.continue' } });
    const { entries } = (await board.call('GET', '/api/audit?resource=attempt_written1')).body;
    expect(entries).toMatchObject([
      { action: 'watcher-policy.evaluate', details: { decision: body.decision, riskClasses: ['destructive_command'] } },
    ]);
    expect(JSON.stringify([body, trace, entries])).not.toContain('the-hidden-place');
  });

  it.each([
    [{}, 'runId'],
    [{ runId: 'a', continuationCount: -1 }, 'continuationCount'],
    [{ runId: 'a', monthlySpendUsd: 'much' }, 'monthlySpendUsd'],
    [{ runId: 'a', taskId: '../x' }, 'taskId'],
    [{ runId: 'a', command: 'ls' }, 'command'],
  ])('refuse %p by the path of the field', async (body, issue) => {
    expect(await evaluate(body)).toMatchObject({ status: 400, body: { details: { issues: [{ path: issue }] } } });
  });

  it('are read with policy:read and asked with agent:read', async () => {
    expect(await board.call('GET', path, { key: agentKey })).toMatchObject({ status: 403 });
    expect(await evaluate({ runId: 'a' }, readKey)).toMatchObject({ status: 403 });
  });
});
