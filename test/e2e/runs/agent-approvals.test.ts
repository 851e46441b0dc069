import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSealedBoxKey } from '../../../platform/crypto/sealed-box';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import type { Database } from '../../../stores/port/collection';
import { openDatabase } from '../../../stores/port/open';
import { type Answer, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('approvals that agents request', () => {
  beforeAll(async () => {
    process.env.ASKING_SECRET = 'swordfish-of-the-agent';
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
  });

  afterAll(async () => {
    delete process.env.ASKING_SECRET;
    await stack.close();
  });

  /** Starts an agent that asks these questions; returns the ids of the run. */
  async function asking(...questions: object[]): Promise<{ taskId: string; attemptId: string }> {
    const type = 'asking-bee';
    await stack.call.configureAgents([
      { ...scriptAgent(type, JSON.stringify(questions)), environmentKeys: ['ASKING_SECRET'] },
    ]);
    const task = await stack.call.createTask({ title: 'Ask', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(task.id);
    return { taskId: task.id, attemptId };
  }

  const pending = (attemptId: string, count: number): Promise<Answer['body'][]> =>
    eventually(async () => {
      const found = await stack.call.ok('GET', `/api/run-approvals?attemptId=${attemptId}&status=pending`);
      expect(found).toHaveLength(count);
      return found;
    });

  async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
    const { BOARD_DATA_DIR: dataDir, MONGODB_URL: mongoUrl } = stack.env;
    const database = await openDatabase({ mongoUrl, dataDir, log: createLog({ name: 'test', level: 'silent' }) });
    try {
      await work(database);
    } finally {
      await database.close();
    }
  }

  const decide = (approval: Answer['body'], fields: object) =>
    stack.call.ok('POST', `/api/run-approvals/${approval.id}/decision`, {
      expectedRevision: approval.revision,
      expectedActionHash: approval.actionHash,
      ...fields,
    });

  test('an agent asks, waits and is answered: what is allowed is done and what is not is not', async () => {
    const { taskId, attemptId } = await asking(
      { id: 'one', action: 'deploy with swordfish-of-the-agent', actionClass: 'network', details: { to: 'staging' } },
      { id: 'two', action: 'drop the table', actionClass: 'shell', riskClass: 'critical' },
      { id: 'three', action: 'Which colour?', actionClass: 'elicitation' },
    );
    const asked = await pending(attemptId, 3);
    const [one, two, three] = ['one', 'two', 'three'].map((id) => asked.find((item) => item.providerRequestId === id));
    expect(one).toMatchObject({
      provider: 'process',
      agentId: 'asking-bee',
      action: 'deploy with [REDACTED]',
      actionClass: 'network',
      riskClass: 'high',
      details: { to: 'staging' },
      takesResponse: true,
      requestKind: 'approval',
    });
    expect(two).toMatchObject({ riskClass: 'critical', mobileSafe: false });
    expect(three).toMatchObject({ riskClass: 'low', requestKind: 'elicitation' });
    await decide(one, { decision: 'approved' });
    await decide(two, { decision: 'rejected', note: 'never' });
    await decide(three, { decision: 'approved', responseData: { colour: 'a very secret green' } });

    const { attempt, taskEnvelope } = await stack.call.ended(taskId);
    expect(attempt.completion).toMatchObject({
      status: 'success',
      summary: 'one=approved; three=approved colour; two=rejected (never)',
    });
    expect(existsSync(join(taskEnvelope.workspace.path, 'one.txt'))).toBe(true);
    expect(existsSync(join(taskEnvelope.workspace.path, 'two.txt'))).toBe(false);
    const events = await stack.call.events(taskId, attemptId);
    expect(events.filter(({ kind }) => kind === 'approval.requested')).toHaveLength(3);
    expect(events.filter(({ kind }) => kind === 'approval.resolved')).toHaveLength(3);
    expect(JSON.stringify(events)).not.toMatch(/swordfish|very secret green/);
  });

  test('a question without an answer is a no, and so is one that reuses the name of another', async () => {
    const { taskId, attemptId } = await asking(
      { id: 'same', action: 'the first', actionClass: 'tool', expiresInSeconds: 2 },
      { id: 'same', action: 'another', actionClass: 'tool' },
    );
    await pending(attemptId, 1);
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt.completion.summary).toMatch(
      /same=expired; same=rejected \(The request id belongs to another action/,
    );
  });

  test('an answer with data that can no longer be decrypted is a no, and the run continues to its end', async () => {
    const { taskId, attemptId } = await asking({ id: 'one', action: 'Which colour?', actionClass: 'elicitation' });
    const [approval] = await pending(attemptId, 1);
    await withDatabase(async (database) => {
      const records = await database.collection<{ _id: string; responseKey?: string }>({ name: 'run-approvals' });
      const { publicKey } = createSealedBoxKey();
      await records.findOneAndUpdate({ _id: approval.id }, { $set: { responseKey: publicKey } });
    });
    await decide(approval, { decision: 'approved', responseData: { colour: 'green' } });
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt.completion).toMatchObject({
      status: 'success',
      summary: expect.stringMatching(/^one=cancelled \(.*Request again/),
    });
  });

  test('stopping a run that waits takes its questions back', async () => {
    const { taskId, attemptId } = await asking({ id: 'one', action: 'wait', actionClass: 'tool' });
    const [approval] = await pending(attemptId, 1);
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    expect(await stack.call.ok('GET', `/api/run-approvals/${approval.id}`)).toMatchObject({ status: 'cancelled' });
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt.completion.status).toBe('interrupted');
  });

  test('an agent that speaks the protocol has its permission requests decided by people', async () => {
    await stack.call.configureAgents([exampleAgent(stack.dir)]);
    const ask = async (decision: string) => {
      const task = await stack.call.createTask({
        title: 'x',
        description: 'ask run the tests',
        git: { repo: 'sample' },
      });
      const { attemptId } = await stack.call.start(task.id);
      const [approval] = await pending(attemptId, 1);
      expect(approval).toMatchObject({ provider: 'acp', action: 'run the tests', actionClass: 'shell' });
      await decide(approval, { decision });
      const { attempt } = await stack.call.ended(task.id);
      const kinds = (await stack.call.events(task.id, attemptId)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind.startsWith('approval.'))).toEqual(['approval.requested', 'approval.resolved']);
      return attempt.completion.summary;
    };
    expect(await ask('approved')).toBe('The answer was yes.');
    expect(await ask('rejected')).toBe('The answer was no.');
  });
});
