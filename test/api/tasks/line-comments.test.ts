import { lineCommentMessage } from '../../../domain/review/line-comment-message';
import { importedLineCommentId } from '../../../stores/tasks/line-comment-store';
import { anAttempt } from '../../support/factories/records';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

async function aTaskWithComments() {
  const { id: taskId } = await board.createTask();
  const path = `/api/diff/${taskId}/comments`;
  return {
    taskId,
    add: async (fields: object = {}) =>
      (await board.call('POST', path, { body: { path: 'src/a.ts', line: 3, body: 'Why?', ...fields } })).body,
    list: async (query = '') => (await board.call('GET', `${path}${query}`)).body,
    post: (body: object, key = agentKey) => board.call('POST', path, { body, key }),
    patch: (id: string, body: object) => board.call('PATCH', `${path}/${id}`, { body }),
    path,
  };
}

describe('comments on lines', () => {
  it('are added, listed by state and file, and deleted', async () => {
    const { add, list, taskId, post, path } = await aTaskWithComments();
    const fields = { path: 'a "b"\n— ü/-x', startLine: 1, line: 2, side: 'old', body: 'Use `Array<T>`', excerpt: 'x' };
    const added = await post({ ...fields, commit: 'a'.repeat(40) });
    expect(added).toMatchObject({
      status: 201,
      body: { taskId, ...fields, state: 'open', revision: 1, author: 'worker', createdBy: 'agent:worker' },
    });
    const whole = await add({ line: undefined, author: 'Jo' });
    expect(whole).toMatchObject({ side: 'new', author: 'Jo' });
    expect(whole).not.toHaveProperty('line');
    expect(await list()).toEqual([added.body, whole]);
    expect(await list('?path=src/a.ts&state=open')).toEqual([whole]);
    expect(await list('?state=resolved')).toEqual([]);
    expect((await board.call('DELETE', `${path}/${whole.id}`)).status).toBe(204);
    expect((await board.call('GET', `${path}/${whole.id}`)).status).toBe(404);
    expect((await board.call('DELETE', `${path}/${whole.id}`)).status).toBe(404);
  });

  it.each([
    ['a path above the worktree', { path: '../x' }, 'path'],
    ['an absolute path', { path: '/etc/passwd' }, 'path'],
    ["a path in git's directory", { path: 'a/.GIT/config' }, 'path'],
    ['a path with NUL', { path: 'a\0b' }, 'path'],
    ['a path that is no UTF-8', { path: 'a\ud800' }, 'path'],
    ['line 0', { line: 0 }, 'line'],
    ['lines in the wrong order', { startLine: 4 }, 'startLine'],
    ['no text', { body: '' }, 'body'],
    ['a side that is none', { side: 'left' }, 'side'],
    ['a state', { state: 'sent' }, 'state'],
  ])('are refused with %s', async (_what, fields, path) => {
    const { post } = await aTaskWithComments();
    expect(await post({ path: 'a', line: 3, body: 'x', ...fields })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: { issues: [{ path }] } },
    });
  });

  it('belong to one task, and to attempts of it', async () => {
    const one = await aTaskWithComments();
    const other = await aTaskWithComments();
    const { id } = await one.add();
    expect((await other.patch(id, { state: 'resolved' })).status).toBe(404);
    expect((await board.call('DELETE', `${other.path}/${id}`)).status).toBe(404);
    expect((await one.post({ path: 'a', body: 'x', attemptId: 'attempt_nobody0000' })).status).toBe(404);
    expect((await board.call('GET', '/api/diff/TASK-none/comments')).status).toBe(404);
    expect((await one.post({ path: 'a', body: 'x' }, readKey)).status).toBe(403);
  });

  it('are resolved, reopened and edited, at the revision that was read', async () => {
    const { add, patch, list } = await aTaskWithComments();
    const { id } = await add();
    const resolved = await patch(id, { state: 'resolved', expectedRevision: 1 });
    expect(resolved).toMatchObject({ status: 200, body: { state: 'resolved', revision: 2 } });
    expect(resolved.headers.get('etag')).toBe(`"line-comments:${id}:2"`);
    expect(await patch(id, { state: 'open', expectedRevision: 1 })).toMatchObject({ status: 409 });
    expect(await patch(id, { body: 'Other' })).toMatchObject({ status: 409, body: { code: 'LINE_COMMENT_NOT_OPEN' } });
    expect(await patch(id, { body: 'Other', state: 'open' })).toMatchObject({ status: 200, body: { body: 'Other' } });
    expect(await list('?state=open')).toMatchObject([{ id, revision: 3 }]);
  });

  it('are marked as sent once, and listed by the attempt that was sent them', async () => {
    const { add, patch, list, taskId } = await aTaskWithComments();
    const { lineComments } = board.api.context;
    const [first, second, third] = [await add(), await add(), await add()];
    await patch(third.id, { state: 'resolved' });
    expect((await lineComments.open(taskId)).map(({ id }) => id)).toEqual([first.id, second.id]);
    const sent = { attemptId: 'attempt_first0000', by: 'user:jo' };
    const ids = [first.id, third.id];
    expect(await lineComments.markSent(taskId, ids, sent)).toMatchObject([{ id: first.id, state: 'sent', sent }]);
    const again = await lineComments.markSent(taskId, ids, { attemptId: 'attempt_second000', by: 'user:jo' });
    expect(again).toEqual([]);
    expect(await list('?sentTo=attempt_first0000')).toMatchObject([{ id: first.id, sent }]);
    expect(await list('?state=open')).toMatchObject([{ id: second.id }]);
  });

  it('are marked by the next reader when the process died after the launch of their review', async () => {
    const { add, list, taskId } = await aTaskWithComments();
    const { attempts, launches, lineComments } = board.api.context;
    const [launched, refused] = [await add(), await add()];
    const attemptId = 'attempt_launched0';
    const claim = { taskId, requestDigest: 'x', createdAt: new Date().toISOString() };
    await lineComments.reserve(taskId, [launched.id], 'send_launched');
    await lineComments.reserve(taskId, [refused.id], 'send_refused');
    await launches.claim('line-comments:send_launched', { ...claim, attemptId });
    await launches.claim('line-comments:send_refused', { ...claim, attemptId: 'attempt_refused00' });
    expect(await list('?state=open')).toHaveLength(2);
    await attempts.create(anAttempt(attemptId, { taskId }));
    expect(await list('?state=sent')).toMatchObject([{ id: launched.id, sent: { attemptId } }]);
    expect(await list('?state=open')).toMatchObject([{ id: refused.id }]);
  });

  it('of another system are stored once', async () => {
    const { add, list, taskId } = await aTaskWithComments();
    const source = { name: 'forge', id: '77' };
    const { id: _id, ...comment } = await add();
    const imported = { ...comment, id: importedLineCommentId(taskId, source), source };
    await board.api.context.lineComments.add(imported);
    await board.api.context.lineComments.add({ ...imported, body: 'again' });
    expect(await list()).toHaveLength(2);
    expect(lineCommentMessage(await list())).toContain('src/a.ts:3');
  });

  it('are at most 500 of a task', async () => {
    const { add, post, taskId } = await aTaskWithComments();
    const { id: _id, ...comment } = await add();
    const { lineComments } = board.api.context;
    for (let n = 1; n < 498; n += 1) {
      await lineComments.add({ ...comment, id: importedLineCommentId(taskId, { name: 'many', id: `${n}` }) });
    }
    await Promise.all(Array.from({ length: 10 }, () => post({ path: 'a', body: 'x' })));
    while ((await lineComments.count(taskId)) < 500) {
      await add();
    }
    expect(await lineComments.count(taskId)).toBe(500);
    expect(await post({ path: 'a', body: 'x' })).toMatchObject({ status: 409 });
    // A first try that stored the last one and died before its answer is repeated: it is there already.
    expect(await lineComments.add({ ...comment, id: _id })).toMatchObject({ id: _id });
  });
});
