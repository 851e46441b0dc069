import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

describe('a fresh conversation', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([exampleAgent(stack.dir)]);
  });

  afterAll(() => stack.close());

  it('begins a session of its own with a message, once under a key', async () => {
    const task = await stack.call.createTask({ title: 'scripted', description: 'say first', git: { repo: 'sample' } });
    const taskId = task.id as string;
    const { attemptId: earlier } = await stack.call.start(taskId, { agent: 'scripted' });
    await stack.call.ended(taskId);
    const path = `/api/agents/${taskId}/conversation/fresh`;
    const key = { 'x-idempotency-key': `fresh-${taskId}` };
    const fresh = (body: object) => stack.call.post(path, body, key);
    const asked = { agent: 'scripted', message: 'recall' };
    const [first, second] = await Promise.all([fresh(asked), fresh(asked)]);
    expect([first.status, second.status]).toEqual([201, 201]);
    const { attemptId } = first.body;
    expect(second.body.attemptId).toBe(attemptId);
    expect(attemptId).not.toBe(earlier);
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt).toMatchObject({
      conversation: { edge: 'start' },
      completion: { status: 'success', summary: expect.stringMatching(/^I was told 1 times: .*recall/s) },
    });
    expect(attempt.conversation).not.toHaveProperty('sourceAttemptId');
    expect(attempt).not.toHaveProperty('parentAttemptId');
    const events = await stack.call.events(taskId, attemptId);
    expect(events.map((event) => event.kind)).toContain('conversation.started');
    expect(await fresh(asked)).toMatchObject({ status: 201, body: { attemptId, replayed: true } });
    expect(await fresh({ ...asked, message: 'another' })).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    for (const refused of [{ agent: 'scripted' }, { message: '' }, { message: 'x', sourceAttemptId: earlier }]) {
      expect((await stack.call.post(path, refused)).status).toBe(400);
    }
  });
});
