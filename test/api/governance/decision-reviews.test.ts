import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, type CallOptions, readKey, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
let directory: TempDir;
let taskId: string;

const people = [
  { id: 'ada', label: 'Ada' },
  { id: 'bob', label: 'Bob' },
];
const catalog = {
  providers: [
    { name: 'local', kind: 'openai-compatible', base_url: 'http://127.0.0.1:2/v1' },
    { name: 'dry', kind: 'dry-run' },
  ],
  models: [
    { id: 'small', provider: 'local', family: 'f', display_name: 'Small', limits: { context_window: 1_000 } },
    { id: 'pretend', provider: 'dry', family: 'f', display_name: 'Pretend', limits: { context_window: 1_000 } },
  ],
};

const call = (method: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/decisions/reviews${rest}`, options);
const aReview = (fields: object = {}) => ({
  ...{ taskId, title: 'Which way', prompt: 'Left or right?', context: 'There is a fork.', participants: people },
  ...fields,
});
async function started(fields: object = {}): Promise<string> {
  const reply = await call('POST', '', { body: aReview(fields) });
  expect([reply.status, reply.body.details ?? null]).toEqual([201, null]);
  return reply.body.id as string;
}
const submit = (id: string, kind: 'responses' | 'critiques', participantId: string, options: CallOptions = {}) =>
  call('POST', `/${id}/${kind}`, { body: { participantId, text: `${participantId} about it` }, ...options });
async function completed(id: string, rounds = 1): Promise<string> {
  for (let round = 1; round <= rounds; round += 1) {
    for (const kind of ['responses', 'critiques'] as const) {
      for (const { id: participantId } of people) {
        expect((await submit(id, kind, participantId)).status).toBe(200);
      }
    }
  }
  return id;
}

describe('decision reviews API', () => {
  beforeAll(async () => {
    directory = await makeTempDir('models');
    const path = join(directory.path, 'models.json');
    await writeFile(path, JSON.stringify(catalog));
    board = await startWholeTestApi({ BOARD_MODELS: path });
    taskId = (await board.createTask({ title: 'Decide' })).id;
  });
  afterAll(async () => {
    await board.close();
    await directory.remove();
  });

  it('takes a review through its rounds to a synthesis that becomes a decision', async () => {
    const id = await started({ rounds: 2 });
    expect((await call('GET', `/${id}`, { key: readKey })).body).toMatchObject({
      ...{ state: 'collecting', round: 1, rounds: 2, answers: [], createdBy: expect.any(String), revision: 1 },
      missing: [
        { participantId: 'ada', kind: 'response', round: 1 },
        { participantId: 'bob', kind: 'response', round: 1 },
      ],
    });
    await completed(id, 2);
    const refused = await call('POST', `/${id}/finalize`, { body: {} });
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, 'synthesis']);
    const decision = { confidence: 0.8, riskScore: 20 };
    const { body } = await call('POST', `/${id}/finalize`, { body: { synthesis: 'Left.', decision }, key: agentKey });
    expect(body).toMatchObject({ state: 'synthesized', synthesis: { text: 'Left.', by: 'agent:worker' }, missing: [] });
    expect(body.answers).toHaveLength(8);
    expect((await board.call('GET', `/api/decisions/${body.decisionId}`)).body.decision).toMatchObject({
      ...{ decision: 'Left.', taskId, evidence: [id], agent: 'worker', ...decision },
    });
    const { body: listed } = await call('GET', `?taskId=${taskId}&state=synthesized`);
    expect(listed).toMatchObject([{ id, decisionId: body.decisionId }]);
    expect(listed[0]).not.toHaveProperty('context');
  });

  it('refuses what a review does not wait for, with its present state', async () => {
    const id = await started();
    expect(await submit(id, 'critiques', 'ada')).toMatchObject({
      status: 409,
      body: { code: 'DECISION_REVIEW_OUT_OF_TURN', details: { reviewId: id, state: 'collecting', round: 1 } },
    });
    await submit(id, 'responses', 'ada');
    expect((await submit(id, 'responses', 'ada')).body.code).toBe('DECISION_REVIEW_ANSWERED');
    expect(await submit(id, 'responses', 'eve')).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'participantId' }] } },
    });
    expect(await call('POST', `/${id}/finalize`, { body: { synthesis: 'x' } })).toMatchObject({
      status: 409,
      body: { code: 'DECISION_REVIEW_INCOMPLETE', details: { missing: [{ participantId: 'bob', kind: 'response' }] } },
    });
    expect((await call('POST', `/${id}/cancel`, { body: { reason: 'Too late' } })).body).toMatchObject({
      ...{ state: 'canceled', canceled: { reason: 'Too late' }, missing: [] },
    });
    for (const [path, body] of [
      ['responses', { participantId: 'bob', text: 'late' }],
      ['finalize', { synthesis: 'x' }],
      ['cancel', {}],
    ] as const) {
      expect(await call('POST', `/${id}/${path}`, { body })).toMatchObject({
        status: 409,
        body: { code: 'DECISION_REVIEW_OVER', details: { state: 'canceled' } },
      });
    }
    expect((await call('GET', '/review_0123456789ab')).status).toBe(404);
    expect((await call('GET', '/review_x')).status).toBe(400);
  });

  it('answers a submission that is repeated under its key as the first time, also later', async () => {
    const id = await started();
    const options = { headers: { 'Idempotency-Key': randomUUID() } };
    const first = await submit(id, 'responses', 'ada', options);
    await submit(id, 'responses', 'bob');
    const again = await submit(id, 'responses', 'ada', options);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await call('GET', `/${id}`)).body.answers).toHaveLength(2);
  });

  it('repeats a submission whose process died before it answered, and counts it once', async () => {
    const id = await started();
    const options = { headers: { 'Idempotency-Key': randomUUID() } };
    await submit(id, 'responses', 'ada', options);
    const keys = await board.api.context.database.collection<{ _id: string; heldUntil: string }>({
      name: 'idempotency-keys',
    });
    await keys.updateMany({ _id: { $gt: '' } }, { $set: { heldUntil: '' }, $unset: { answer: '' } });
    await submit(id, 'responses', 'bob');
    const again = await submit(id, 'responses', 'ada', options);
    expect([again.status, again.body.answers.length, again.body.state]).toEqual([200, 2, 'critiquing']);
  });

  it('counts every answer of eight participants who answer at once, and none twice', async () => {
    const participants = Array.from({ length: 8 }, (_, index) => ({ id: `p${index}`, label: `P${index}` }));
    const id = await started({ participants });
    const sent = [...participants, ...participants].map((one) => submit(id, 'responses', one.id));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 409).length]).toEqual([
      8, 8,
    ]);
    const { body } = await call('GET', `/${id}`);
    expect([body.state, body.answers.length, body.missing.length]).toEqual(['critiquing', 8, 8]);
  });

  it('finalizes or cancels a review once when both come at once', async () => {
    const id = await completed(await started());
    const body = { synthesis: 'Left', decision: { confidence: 1 } };
    const replies = await Promise.all([
      ...Array.from({ length: 5 }, () => call('POST', `/${id}/finalize`, { body })),
      ...Array.from({ length: 5 }, () => call('POST', `/${id}/cancel`, { body: {} })),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const { state, decisionId } = (await call('GET', `/${id}`)).body;
    const of = (await board.call('GET', `/api/decisions?taskId=${taskId}&limit=500`)).body as { evidence: string[] }[];
    expect(of.filter(({ evidence }) => evidence.includes(id))).toHaveLength(state === 'synthesized' ? 1 : 0);
    expect(decisionId === undefined).toBe(state === 'canceled');
  });

  it.each([
    ['context', { context: undefined }],
    ['participants', { participants: people.slice(1) }],
    ['participants', { participants: [people[0], people[0]] }],
    ['participants', { participants: Array.from({ length: 9 }, (_, n) => ({ id: `p${n}`, label: 'P' })) }],
    ['participants.0.profileId', { participants: [{ ...people[0], model: 'small', profileId: 'x' }, people[1]] }],
    ['rounds', { rounds: 6 }],
    ['prompt', { prompt: 'x'.repeat(10_001) }],
  ])('refuses a review with a wrong %s', async (path, fields) => {
    const { status, body } = await call('POST', '', { body: aReview(fields) });
    expect([status, body.details.issues.map((issue: { path: string }) => issue.path)]).toEqual([400, [path]]);
  });

  it('refuses models that nothing can ask, profiles without one, and callers that may not spend', async () => {
    const withModel = (fields: object) => aReview({ participants: [people[0], { id: 'm', label: 'M', ...fields }] });
    const codeOf = async (fields: object) => {
      const { status, body } = await call('POST', '', { body: withModel(fields) });
      return [status, body.code];
    };
    expect(await codeOf({ model: 'unknown' })).toEqual([409, 'MODEL_UNKNOWN']);
    expect(await codeOf({ model: 'pretend' })).toEqual([409, 'MODEL_UNKNOWN']);
    expect(await codeOf({ profileId: 'nobody' })).toEqual([404, 'NOT_FOUND']);
    const profile = { name: 'P', agent: 'ant' };
    await board.api.context.profiles.create('modelless', {
      ...profile,
      instructions: '',
      requiredChecks: [],
      restrictions: {},
      enabled: true,
    });
    expect(await codeOf({ profileId: 'modelless' })).toEqual([409, 'REVIEW_PROFILE_UNUSABLE']);
    expect((await call('POST', '', { body: withModel({ model: 'small' }), key: agentKey })).status).toBe(403);
    expect((await call('POST', '', { body: aReview(), key: agentKey })).status).toBe(201);
    const without = await startWholeTestApi();
    try {
      const { id } = await without.createTask({ title: 'T' });
      const body = { ...withModel({ model: 'small' }), taskId: id };
      const refused = await without.call('POST', '/api/decisions/reviews', { body });
      expect([refused.status, refused.body.code]).toEqual([409, 'MODELS_NOT_CONFIGURED']);
    } finally {
      await without.close();
    }
  });

  it('asks the rules before models are paid for', async () => {
    const policy = {
      ...{ id: 'no-spending', type: 'block-action-type', name: 'No', enabled: true, responseAction: 'block' },
      config: { actionTypes: ['decision-review'] },
    };
    expect((await board.call('POST', '/api/policies', { body: policy })).status).toBe(201);
    const participants = [people[0], { id: 'm', label: 'M', model: 'small' }];
    const refused = await call('POST', '', { body: aReview({ participants }) });
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'POLICY_BLOCKED', details: { traceId: expect.any(String) } },
    });
    expect((await call('POST', '', { body: aReview() })).status).toBe(201);
    await board.call('DELETE', '/api/policies/no-spending');
  });

  it('stores no secret, writes the audit log and notifies watchers', async () => {
    const watcher = await TestWatcher.open(board.url, { headers: { 'X-API-Key': adminKey } });
    watcher.send({ type: 'subscribe:tasks' });
    await watcher.receives(({ type }) => type === 'tasks:subscribed');
    const secret = 'ghp_0123456789012345678901234567890123456789';
    const id = await started({ context: `Use ${secret}` });
    await submit(id, 'responses', 'ada', { body: { participantId: 'ada', text: `I have ${secret}` }, key: agentKey });
    const { body } = await call('GET', `/${id}`);
    expect(JSON.stringify(body)).not.toContain(secret);
    expect(body.answers[0]).toMatchObject({ text: 'I have [REDACTED]', by: 'agent:worker' });
    const changed = (revision: number) =>
      watcher.receives(
        (one) => one.type === 'decision-review:changed' && one.reviewId === id && one.revision === revision,
      );
    expect(await changed(2)).toMatchObject({ taskId, state: 'collecting', round: 1 });
    watcher.close();
    await call('POST', `/${id}/cancel`, { body: {} });
    const { entries } = (await board.call('GET', '/api/audit?limit=200')).body as {
      entries: { action: string; resource?: string }[];
    };
    const ofReview = entries.filter(({ resource }) => resource === id).map(({ action }) => action);
    expect(ofReview.sort()).toEqual(['decision-review.cancel', 'decision-review.response', 'decision-review.start']);
  });

  it('exports a document that no text of it can leave', async () => {
    const id = await started({ title: '# `Fake`', prompt: '```\n# Injected\n```' });
    await submit(id, 'responses', 'ada', { body: { participantId: 'ada', text: '````\n<b>out</b>' } });
    const { status, headers, body } = await call('GET', `/${id}/export`, { key: readKey });
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      ...[200, 'text/markdown; charset=utf-8', 'nosniff'],
    ]);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${id}.md"`);
    expect(body).toContain('````\n```\n# Injected\n```\n````');
    expect(body).toContain('`````\n````\n<b>out</b>\n`````');
  });
});
