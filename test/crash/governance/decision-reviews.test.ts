import { eventually } from '../../../platform/testing/eventually';
import { aGate } from '../../support/models/provider';
import { askedFor, type ReviewModels, reviewModels } from '../../support/models/review-models';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

let models: ReviewModels;
let service: Service;
let taskId: string;

const reviews = '/api/decisions/reviews';
const first = { id: 'one', label: 'One', model: 'first' };
const second = { id: 'two', label: 'Two', model: 'second' };

const when = (id: string, expected: object) =>
  eventually(
    async () => {
      const { status, body } = await service.call.get(`${reviews}/${id}`);
      expect({ status, body }).toMatchObject({ status: 200, body: expected });
      return body;
    },
    { withinMs: 60_000 },
  );
const asked = () => models.provider.asked.map(askedFor);
const timesAsked = (question: string) => asked().filter((each) => each === question).length;

/** Starts a review whose second participant answers when the gate opens, and waits for the answer of the first. */
async function startHeldReview(gate: ReturnType<typeof aGate>): Promise<string> {
  models.provider.answers(async function* (one) {
    const question = askedFor(one);
    if (question === 'two response 1') {
      await gate.opened;
    }
    yield `Answer: ${question}`;
  });
  const fields = { taskId, title: 'Which way', prompt: 'Left or right?', context: 'A fork.' };
  const { id } = await service.call.ok('POST', reviews, { ...fields, participants: [first, second] });
  await when(id, { answers: [{ participantId: 'one' }] });
  await eventually(() => expect(timesAsked('two response 1')).toBe(1));
  return id;
}

/** What must hold whatever was killed: each answer is there once, and what was stored was not asked for again. */
async function expectWhole(id: string): Promise<void> {
  const { answers } = await when(id, { missing: [], state: 'critiquing', draft: { text: 'Answer: synthesis' } });
  const stored = answers.map(({ participantId, kind }: Record<string, string>) => `${participantId} ${kind}`);
  expect(stored.sort()).toEqual(['one critique', 'one response', 'two critique', 'two response']);
  expect(timesAsked('one response 1')).toBe(1);
  expect(await service.call.ok('POST', `${reviews}/${id}/finalize`, {})).toMatchObject({ state: 'synthesized' });
}

describe('kill -9 in the middle of a decision review', () => {
  beforeAll(async () => {
    models = await reviewModels();
    service = await startService({ ...models.settings, BOARD_RETRY_BACKOFF_MS: '50' }, { restart: soonAgain });
    taskId = (await service.call.createTask({ title: 'Decide' })).id;
  });
  afterAll(async () => {
    await service.close();
    await models.close();
  });
  beforeEach(() => {
    models.provider.asked.length = 0;
  });

  it('of the worker while a model answers: the model is asked again, and the one that has answered is not', async () => {
    const gate = aGate();
    const id = await startHeldReview(gate);
    killPart(service, 'worker');
    await eventually(() => expect(timesAsked('two response 1')).toBe(2), { withinMs: 60_000 });
    gate.open();
    await expectWhole(id);
    for (const question of ['one critique 1', 'two critique 1', 'synthesis']) {
      expect(timesAsked(question)).toBe(1);
    }
  });

  it('of the API while a model answers: the review continues without it, and nothing is asked twice', async () => {
    const gate = aGate();
    const id = await startHeldReview(gate);
    killPart(service, 'api');
    gate.open();
    await eventually(() => expect(timesAsked('synthesis')).toBe(1), { withinMs: 60_000 });
    await expectWhole(id);
    expect(new Set(asked()).size).toBe(asked().length);
  });
});
