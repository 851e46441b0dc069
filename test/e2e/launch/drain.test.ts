import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

describe('a host that is drained', () => {
  let secured: SecuredStack;
  let hostId: string;
  const drain = () => `/api/agents/hosts/${hostId}/drain`;
  const resume = () => `/api/agents/hosts/${hostId}/resume`;
  beforeAll(async () => {
    secured = await startSecuredStack();
    const { admin, stack } = secured;
    await admin.addRepository('shop', await aRepository(stack.dir));
    await admin.configureAgents([scriptAgent('as-told'), { ...scriptAgent('as-told'), type: 'stays' }]);
    const { hosts } = await admin.ok('GET', '/api/agents/hosts');
    ({ hostId } = hosts[0]);
  });
  afterAll(() => secured.stack.close());

  const aTask = async (script: object): Promise<string> =>
    (
      await secured.admin.createTask({
        ...{ title: 'Work', git: { repo: 'shop' }, description: JSON.stringify(script) },
      })
    ).id;
  const success = { status: 'success', summary: 'Done.' };

  it('takes no new run, keeps what it has, and takes what waits when it is resumed', async () => {
    const { admin } = secured;
    const earlier = await aTask({ say: [{ type: 'progress', message: 'on it' }], stays: true });
    const { attemptId } = await admin.start(earlier, { agent: 'stays' });
    await eventually(async () => expect((await admin.status(earlier)).state).toBe('running'));

    const drained = await admin.ok('POST', drain(), { reason: 'A new disk' });
    expect(drained).toMatchObject({ hostId, drain: { reason: 'A new disk', by: expect.any(String) } });
    expect(drained.workers).toEqual([expect.objectContaining({ draining: true })]);
    expect((await admin.ok('POST', drain(), { reason: 'Another' })).drain).toEqual(drained.drain);

    const waiting = await aTask({ result: success });
    expect((await admin.start(waiting, { agent: 'as-told' })).status).toBe('queued');
    const checked = await admin.post('/api/config/agents/as-told/check', { hostId });
    expect([checked.status, checked.body.code]).toEqual([409, 'HOST_DRAINED']);
    expect((await admin.ok('GET', '/api/health/deep')).parts.workers).toMatchObject({
      reason: expect.stringContaining('draining'),
    });
    expect((await admin.status(earlier)).state).toBe('running');
    await admin.ok('POST', `/api/agents/${earlier}/stop`, { attemptId });
    expect((await admin.status(waiting)).state).toBe('queued');

    expect(await admin.ok('POST', resume(), {})).toMatchObject({ hostId, drain: null });
    expect((await admin.ended(waiting)).attempt.completion.status).toBe('success');
    const { entries } = await admin.ok('GET', '/api/audit?limit=50');
    const actions = entries.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(expect.arrayContaining(['host.drain', 'host.resume']));
  });

  it('stays drained for the workers that start later, until it is resumed', async () => {
    const { admin, stack } = secured;
    await admin.ok('POST', drain(), {});
    const worker = await stack.anotherWorker();
    try {
      const task = await aTask({ result: success });
      expect((await admin.start(task, { agent: 'as-told' })).status).toBe('queued');
      const { hosts } = await admin.ok('GET', '/api/agents/hosts');
      expect(hosts[0].drain).toMatchObject({ reason: null });
      await admin.ok('POST', resume(), {});
      expect((await admin.ended(task)).attempt.completion.status).toBe('success');
    } finally {
      await worker.close();
    }
  });

  it('is drained by administrators only, and must exist', async () => {
    const { admin, agent } = secured;
    expect((await agent.post(drain())).status).toBe(403);
    expect((await agent.post(resume())).status).toBe(403);
    expect((await admin.post('/api/agents/hosts/absent/drain')).status).toBe(404);
    expect((await admin.post('/api/agents/hosts/absent/resume')).status).toBe(404);
    expect((await admin.post('/api/agents/hosts/..%2F/drain')).status).toBe(400);
  });
});
