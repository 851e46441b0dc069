import { eventually } from '../../../platform/testing/eventually';
import { changeFeatures } from '../../support/change-features';
import { aGate, type Asked } from '../../support/models/provider';
import { askedFor, type ReviewModels, reviewModels } from '../../support/models/review-models';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let models: ReviewModels;
let taskId: string;

const reviews = '/api/decisions/reviews';
const first = { id: 'one', label: 'One', model: 'first' };
const second = { id: 'two', label: 'Two', model: 'second' };
const ada = { id: 'ada', label: 'Ada' };

const start = (participants: object[], fields: object = {}) =>
  stack.call.ok('POST', reviews, {
    ...{ taskId, title: 'Which way', prompt: 'Left or right?', context: 'A fork.', participants, ...fields },
  });
const read = (id: string) => stack.call.ok('GET', `${reviews}/${id}`);
const when = (id: string, expected: object) =>
  eventually(async () => {
    const review = await read(id);
    expect(review).toMatchObject(expected);
    return review;
  });
const asked = () => models.provider.asked.map(askedFor);
const submit = (id: string, kind: string, participantId: string) =>
  stack.call.ok('POST', `${reviews}/${id}/${kind}`, { participantId, text: `${kind} of ${participantId}` });

describe('decision reviews with models', () => {
  beforeAll(async () => {
    models = await reviewModels();
    stack = await startStack({ ...models.settings, BOARD_RETRY_BACKOFF_MS: '50' });
    taskId = (await stack.call.createTask({ title: 'Decide' })).id;
  });
  afterAll(async () => {
    await stack.close();
    await models.close();
  });
  beforeEach(() => {
    models.provider.asked.length = 0;
    models.provider.answers((one) => [`Answer: ${askedFor(one)}`]);
  });

  it('ask each model once for each answer of each round, and draft a synthesis that a person finalizes', async () => {
    const { id } = await start([first, second], { rounds: 2 });
    const review = await when(id, { draft: { by: 'model:first' }, missing: [], state: 'critiquing', round: 2 });
    const rounds = [1, 2].flatMap((round) =>
      ['response', 'critique'].flatMap((kind) => ['one', 'two'].map((who) => `${who} ${kind} ${round}`)),
    );
    expect(asked().sort()).toEqual([...rounds, 'synthesis'].sort());
    expect(review.answers).toHaveLength(8);
    expect(review.answers[0]).toMatchObject({
      ...{ kind: 'response', round: 1, text: expect.stringMatching(/^Answer: (?:one|two) response 1$/) },
      ...{ by: expect.stringMatching(/^model:/), usage: { inputTokens: 1_000, outputTokens: 50, cost: 0.011 } },
    });
    const critique = models.provider.asked.find((one) => askedFor(one) === 'one critique 2')!;
    expect(JSON.stringify(critique.body)).toContain('Answer: two response 2');
    const done = await stack.call.ok('POST', `${reviews}/${id}/finalize`, { decision: { confidence: 0.5 } });
    expect(done).toMatchObject({ state: 'synthesized', synthesis: { text: 'Answer: synthesis' } });
    expect(await stack.call.ok('GET', `/api/decisions/${done.decisionId}`)).toMatchObject({
      decision: { decision: 'Answer: synthesis', confidence: 0.5 },
    });
    const { entries } = await stack.call.ok('GET', '/api/audit?limit=200');
    const ofModels = entries.filter(
      ({ actor, resource }: Record<string, string>) => actor === 'system:decision-review' && resource === id,
    );
    expect(ofModels.map(({ action }: { action: string }) => action).sort()).toEqual([
      ...Array.from({ length: 4 }, () => 'decision-review.critique'),
      'decision-review.draft',
      ...Array.from({ length: 4 }, () => 'decision-review.response'),
    ]);
  });

  it('wait for people beside models, for as long as they need', async () => {
    const { id } = await start([first, ada]);
    await when(id, { missing: [{ participantId: 'ada', kind: 'response' }] });
    const refused = await stack.call.post(`${reviews}/${id}/responses`, { participantId: 'one', text: 'Not me' });
    expect([refused.status, refused.body.code]).toEqual([409, 'DECISION_REVIEW_MODEL']);
    await submit(id, 'responses', 'ada');
    await when(id, { state: 'critiquing', missing: [{ participantId: 'ada', kind: 'critique' }] });
    await submit(id, 'critiques', 'ada');
    await when(id, { missing: [], draft: { text: 'Answer: synthesis' } });
    expect(asked().sort()).toEqual(['one critique 1', 'one response 1', 'synthesis']);
  });

  it('take the model and the instructions of a profile', async () => {
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    const profile = { name: 'Sceptic', agent: 'elsewhere', model: 'third', instructions: 'Doubt everything.' };
    await stack.call.ok('PUT', '/api/config/profiles/sceptic', profile);
    const { id } = await start([ada, { id: 'sceptic', label: 'Sceptic', profileId: 'sceptic' }]);
    await when(id, { answers: [{ participantId: 'sceptic', by: 'model:third' }] });
    const [{ body }] = models.provider.asked as [Asked];
    expect(body).toMatchObject({ model: 'third', max_tokens: expect.any(Number) });
    expect(JSON.stringify(body.messages)).toContain('Doubt everything.');
    expect(body.tools).toBeUndefined();
  });

  it('ask again what fails for a moment, and do without a model that refuses', async () => {
    let tries = 0;
    models.provider.answers((one) => {
      const question = askedFor(one);
      if (question.startsWith('two')) {
        return { status: 400, body: { error: { message: 'no such thing', key: 'secret' } } };
      }
      tries += 1;
      return tries === 1 ? { status: 503, body: { error: { message: 'busy' } } } : [`Answer: ${question}`];
    });
    const { id } = await start([first, second]);
    const review = await when(id, { missing: [], draft: { by: 'model:first' } });
    expect(review.participants).toMatchObject([
      { id: 'one', status: 'active' },
      { id: 'two', status: 'failed', failure: { kind: 'response', round: 1, reason: expect.stringContaining('400') } },
    ]);
    expect(asked().filter((one) => one === 'one response 1')).toHaveLength(2);
    expect(asked().filter((one) => one.startsWith('two'))).toHaveLength(1);
    expect((await stack.call.ok('POST', `${reviews}/${id}/finalize`, {})).state).toBe('synthesized');
  });

  it('give a model up after five tries; what is left can be canceled', async () => {
    models.provider.answers(() => ({ status: 503, body: {} }));
    const { id } = await start([first, { ...first, id: 'other' }]);
    const { participants } = await when(id, { missing: [] });
    expect(participants.map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed']);
    expect(asked()).toHaveLength(10);
    const refused = await stack.call.post(`${reviews}/${id}/finalize`, { synthesis: 'Mine' });
    expect([refused.status, refused.body.code]).toEqual([409, 'DECISION_REVIEW_EMPTY']);
    expect((await stack.call.ok('POST', `${reviews}/${id}/cancel`, {})).state).toBe('canceled');
  });

  it('count nothing that a model answers after the cancellation, and ask it no more', async () => {
    const gate = aGate();
    models.provider.answers(async function* () {
      await gate.opened;
      yield 'Late';
    });
    const { id } = await start([first, ada], { rounds: 3 });
    await eventually(() => expect(asked()).toHaveLength(1));
    await stack.call.ok('POST', `${reviews}/${id}/cancel`, { reason: 'Never mind' });
    gate.open();
    const workflow = stack.temporal.workflow.getHandle(`decision-review/${id}`);
    expect(await workflow.result()).toBe('canceled, round 1 of 3');
    expect(await read(id)).toMatchObject({ state: 'canceled', answers: [], canceled: { reason: 'Never mind' } });
    expect(asked()).toHaveLength(1);
  });

  it('store no more of an answer than its limit, and no secret of it', async () => {
    models.provider.answers(() => [`ghp_0123456789012345678901234567890123456789 ${'x'.repeat(20_000)}`]);
    const { id } = await start([first, ada]);
    const { answers } = await when(id, { answers: [{ participantId: 'one' }] });
    expect(answers[0].text).toHaveLength(10_000);
    expect(answers[0].text).toMatch(/^\[REDACTED\] x/);
  });

  it('use the budgets of their task, and ask no model once one is used up', async () => {
    const { id: task } = await stack.call.createTask({ title: 'Spend', project: 'dear' });
    const limit = (costUsd: number | null) => changeFeatures(stack.call, { budget: { limits: { task: { costUsd } } } });
    await limit(0.03);
    const { id } = await start([first, second], { taskId: task, rounds: 5 });
    const { participants } = await when(id, {
      missing: [],
      participants: [{ status: 'failed' }, { status: 'failed' }],
    });
    expect(participants).toMatchObject(
      ['one', 'two'].map((who) => ({
        ...{ id: who, status: 'failed' },
        failure: { kind: 'response', round: 2, reason: expect.stringContaining('is used up') },
      })),
    );
    expect(asked()).toHaveLength(4);
    const project = await stack.call.ok('GET', '/api/metrics/budget?project=dear');
    expect(project.costUsd.used).toBe(0.044);
    const again = await stack.call.post(reviews, {
      ...{ taskId: task, title: 'More', prompt: 'More?', context: 'None.', participants: [first, second] },
    });
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'ADMISSION_BUDGET_EXHAUSTED', details: { scope: 'task', scopeId: task, budget: 'costUsd' } },
    });
    expect(asked()).toHaveLength(4);
    await limit(null);
  });

  it('ask nothing for a start that the API has not made', async () => {
    const input = { reviewId: 'review_000000000000', retryMs: 50, heartbeatTimeoutMs: 2_000 };
    const options = { taskQueue: 'board', args: [input] };
    const none = await stack.temporal.workflow.start('decisionReview', {
      ...options,
      workflowId: 'decision-review/review_000000000000',
    });
    expect(await none.result()).toBe('There is no such review.');
    // Under the id of another workflow its activities are refused.
    const { id } = await start([ada, { ...ada, id: 'bob' }]);
    const forged = await stack.temporal.workflow.start('decisionReview', {
      ...{ ...options, args: [{ ...input, reviewId: id }] },
      workflowId: 'decision-review/another',
    });
    await eventually(async () => {
      const { pendingActivities = [] } = (await forged.describe()).raw;
      const failed = (pendingActivities ?? []).some(({ lastFailure }) => lastFailure);
      expect(failed || (await forged.describe()).status.name === 'FAILED').toBe(true);
    });
    await forged.terminate().catch(() => undefined);
    expect(asked()).toEqual([]);
  });
});
