import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());
afterEach(() => jest.restoreAllMocks());

const call = (method: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/reflections${rest}`, options);
const learnt = {
  category: 'agent',
  promotionTarget: 'task-lesson',
  confidence: 0.8,
  source: { kind: 'user-correction' },
  summary: 'Look at the log first',
  previousApproach: 'Guessing',
  correction: 'Reading',
  nextAttempt: 'Read the log',
  evidence: [{ kind: 'log', title: 'The log', content: 'all of it' }],
  tags: ['logs'],
};
const aTask = async (): Promise<string> => (await board.createTask()).id;
const taskOf = async (id: string) => (await board.call('GET', `/api/tasks/${id}`)).body;
const propose = async (fields: object = {}) => {
  await nextMillisecond();
  return (await call('POST', '', { body: { ...learnt, ...fields } })).body;
};
const ofTask = (taskId: string, fields: object = {}) => propose({ source: { kind: 'task-run', taskId }, ...fields });
const accept = (id: string, body: object = {}) => call('POST', `/${id}/accept`, { body });
const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);

describe('a reflection', () => {
  it('is proposed and waits', async () => {
    const proposed = await call('POST', '', { body: learnt });
    expect(proposed).toMatchObject({ status: 201, body: { ...learnt, status: 'pending', createdBy: 'service:admin' } });
    expect((await call('GET', `/${proposed.body.id}`)).body).toEqual(proposed.body);
  });

  it('keeps no secret and no name in a path', async () => {
    const secret = `ghp_${'a1'.repeat(18)}`;
    const text = `${secret} in /home/olivia/shop`;
    const evidence = [{ kind: 'log', title: text, content: text }];
    const { id } = await propose({ summary: text, correction: text, evidence, tags: [secret] });
    await call('POST', `/${id}/reject`, { body: { reviewerNote: text } });
    const kept = JSON.stringify((await call('GET', `/${id}`)).body);
    expect(kept).not.toMatch(/ghp_|olivia/);
    expect(kept).toContain('/home/[REDACTED]/shop');
    const { entries } = (await board.call('GET', `/api/audit?resource=${id}`)).body;
    expect(JSON.stringify(entries)).not.toMatch(/ghp_|olivia/);
  });

  it('is listed by status, category, source and task, the newest first, in parts', async () => {
    const source = { kind: 'review-feedback', taskId: 'TASK-900' };
    const first = await propose({ source });
    const second = await propose({ source: { ...source, kind: 'error' }, category: 'team' });
    expect(idsOf(await call('GET', '?taskId=TASK-900'))).toEqual([second.id, first.id]);
    expect(idsOf(await call('GET', '?taskId=TASK-900&limit=1&offset=1'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?taskId=TASK-900&sourceKind=error'))).toEqual([second.id]);
    expect(idsOf(await call('GET', '?taskId=TASK-900&category=agent'))).toEqual([first.id]);
    await call('POST', `/${first.id}/reject`);
    expect(idsOf(await call('GET', '?taskId=TASK-900&status=rejected'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?status=pending'))).toContain(second.id);
  });

  it.each([
    ['another category', { category: 'odd' }, 'category'],
    ['another source', { source: { kind: 'odd' } }, 'source.kind'],
    ['a confidence above one', { confidence: 2 }, 'confidence'],
    ['a field that is none', { mood: 'good' }, 'mood'],
    ['evidence of another shape', { evidence: [{ kind: 'log', title: 'x', content: 1 }] }, 'evidence.0.content'],
  ])('is refused with %s by the path of the field', async (_case, fields, path) => {
    const refused = await call('POST', '', { body: { ...learnt, ...fields } });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('is read with workflow:read, and changed with workflow:write', async () => {
    expect((await call('GET', '', { key: readKey })).status).toBe(200);
    expect((await call('POST', '', { body: learnt, key: agentKey })).status).toBe(403);
  });
});

describe('a lesson of a task', () => {
  it('is added to the task that it was learnt with', async () => {
    const taskId = await aTask();
    await board.call('PATCH', `/api/tasks/${taskId}`, { body: { lessonsLearned: '- By hand', lessonTags: ['own'] } });
    const { id } = await ofTask(taskId);
    const accepted = await accept(id, { reviewedBy: 'ada', reviewerNote: 'True' });
    expect(accepted).toMatchObject({
      status: 200,
      body: { status: 'accepted', promotion: 'done', review: { reviewedBy: 'ada', reviewerNote: 'True' } },
    });
    expect(await taskOf(taskId)).toMatchObject({
      lessonsLearned: '- By hand\n- Look at the log first\n  Correction: Reading\n  Next time: Read the log',
      lessonTags: ['own', 'logs'],
      lessonSources: [id],
    });
    const { entries } = (await board.call('GET', `/api/audit?resource=${id}`)).body;
    expect(entries).toMatchObject([{ action: 'reflection.accept', actor: 'service:admin' }]);
  });

  it('is added once, however often and by however many callers it is accepted', async () => {
    const taskId = await aTask();
    const { id } = await ofTask(taskId);
    const replies = await Promise.all(Array.from({ length: 5 }, () => accept(id)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await accept(id)).body).toMatchObject({ status: 'accepted', promotion: 'done' });
    expect((await taskOf(taskId)).lessonsLearned.match(/Look at the log/g)).toHaveLength(1);
  });

  it('is added by the next request when the process dies before it is', async () => {
    const taskId = await aTask();
    const { id } = await ofTask(taskId);
    jest.spyOn(board.api.context.board, 'update').mockRejectedValueOnce(new Error('killed'));
    expect((await accept(id)).status).toBe(500);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'accepted', promotion: 'pending' });
    expect((await taskOf(taskId)).lessonsLearned).toBeUndefined();
    expect((await call('POST', `/${id}/reject`)).status).toBe(409);
    expect((await accept(id)).body.promotion).toBe('done');
    expect((await taskOf(taskId)).lessonSources).toEqual([id]);
  });

  it('is not added again when the process dies right after it was', async () => {
    const taskId = await aTask();
    const { id } = await ofTask(taskId);
    jest.spyOn(board.api.context.reflections, 'promoted').mockRejectedValueOnce(new Error('killed'));
    expect((await accept(id)).status).toBe(500);
    await board.call('PATCH', `/api/tasks/${taskId}`, { body: { lessonsLearned: 'Rewritten' } });
    expect((await accept(id)).body.promotion).toBe('done');
    expect(await taskOf(taskId)).toMatchObject({ lessonsLearned: 'Rewritten', lessonSources: [id] });
  });

  it('is either accepted or rejected, and in the task only if it is accepted', async () => {
    const taskId = await aTask();
    const { id } = await ofTask(taskId);
    const [accepted, rejected] = await Promise.all([accept(id), call('POST', `/${id}/reject`)]);
    expect([accepted.status, rejected.status].sort()).toEqual([200, 409]);
    const { lessonSources = [] } = await taskOf(taskId);
    expect(lessonSources).toEqual(accepted.status === 200 ? [id] : []);
  });

  it('needs a task that can take it, and is left to wait otherwise', async () => {
    const { id } = await propose();
    const refused = await accept(id);
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'promotionTarget' }] } } });
    const unknown = await ofTask('task_20260101_nobody');
    expect((await accept(unknown.id)).status).toBe(404);
    const taskId = await aTask();
    const archived = await ofTask(taskId);
    await board.call('POST', `/api/tasks/${taskId}/archive`);
    expect((await accept(archived.id)).status).toBe(409);
    for (const one of [id, unknown.id, archived.id]) {
      expect((await call('GET', `/${one}`)).body.status).toBe('pending');
    }
  });

  it('is one of the lessons of the board', async () => {
    const taskId = await aTask();
    await accept((await ofTask(taskId)).id);
    const { data } = (await board.call('GET', '/api/lessons?tag=logs&search=LOG')).body;
    expect(data).toContainEqual(expect.objectContaining({ taskId, lessonTags: ['logs'] }));
  });
});

describe('a decision', () => {
  it('for another target changes no task', async () => {
    const taskId = await aTask();
    const { id } = await ofTask(taskId);
    const accepted = await accept(id, { promotionTarget: 'team-guideline' });
    expect(accepted.body).toMatchObject({ promotionTarget: 'team-guideline', promotion: 'manual' });
    expect((await taskOf(taskId)).lessonsLearned).toBeUndefined();
    expect((await accept(id, { promotionTarget: 'team-guideline' })).status).toBe(200);
    const { reviewedBy } = accepted.body.review as { reviewedBy: string };
    expect((await accept(id, { reviewedBy })).status).toBe(200);
    expect((await accept(id, { reviewedBy: 'eve' })).status).toBe(409);
    expect((await accept(id, { reviewerNote: 'Another reason' })).status).toBe(409);
    expect(await accept(id, { promotionTarget: 'task-lesson' })).toMatchObject({
      status: 409,
      body: { details: { current: { status: 'accepted', promotionTarget: 'team-guideline' } } },
    });
  });

  it('is made once: what is rejected stays so', async () => {
    const { id } = await propose();
    expect((await call('POST', `/${id}/reject`, { body: { reviewerNote: 'No' } })).body).toMatchObject({
      status: 'rejected',
      review: { reviewedBy: 'admin', reviewerNote: 'No' },
    });
    expect(await call('POST', `/${id}/reject`)).toMatchObject({ status: 409, body: { details: { resourceId: id } } });
    expect((await accept(id)).status).toBe(409);
    expect((await call('POST', '/reflection_000000000000/reject')).status).toBe(404);
  });

  it('merges into another one that counts', async () => {
    const target = await propose();
    const { id } = await propose();
    for (const targetId of [id, 'reflection_000000000000']) {
      const refused = await call('POST', `/${id}/merge`, { body: { targetId } });
      expect(refused.body.details.issues).toEqual([expect.objectContaining({ path: 'targetId' })]);
    }
    const merged = await call('POST', `/${id}/merge`, { body: { targetId: target.id } });
    expect(merged.body).toMatchObject({ status: 'merged', mergedInto: target.id });
    expect((await call('POST', `/${id}/merge`, { body: { targetId: target.id } })).status).toBe(409);
  });

  it('takes off the lists what is deleted, and keeps it', async () => {
    const source = { kind: 'error', taskId: 'TASK-901' };
    const { id } = await propose({ source });
    expect((await call('DELETE', `/${id}`)).body).toMatchObject({ id, status: 'deleted' });
    expect((await call('DELETE', `/${id}`)).status).toBe(200);
    expect(idsOf(await call('GET', '?taskId=TASK-901'))).toEqual([]);
    expect(idsOf(await call('GET', '?taskId=TASK-901&status=deleted'))).toEqual([id]);
    expect((await accept(id)).status).toBe(409);
    expect((await call('DELETE', '/reflection_000000000000')).status).toBe(404);
  });
});
