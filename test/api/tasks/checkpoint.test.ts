import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadLaunchInputs } from '../../../stores/runs/launch/launch-inputs';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { rawRequest } from '../http/raw-request';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, id: string, body?: unknown, options = {}) =>
  board.call(method, `/api/tasks/${id}/checkpoint`, { body, ...options });
const save = (id: string, body: unknown, options = {}) => call('POST', id, body, options);
const move = (id: string, status: string) => board.call('PATCH', `/api/tasks/${id}`, { body: { status } });

/** Writes into the task's file by hand. */
async function editFile(id: string, edit: (text: string) => string): Promise<void> {
  const folder = join(board.dataDir, 'tasks/active');
  const name = (await readdir(folder)).find((entry) => entry.startsWith(id))!;
  await writeFile(join(folder, name), edit(await readFile(join(folder, name), 'utf8')));
}

describe('the checkpoint of a task', () => {
  it('is saved, read and cleared', async () => {
    const { id } = await board.createTask();
    expect(await call('GET', id)).toMatchObject({ status: 200, body: { checkpoint: null } });
    const state = { at: 'tests', files: ['a.ts', { 'b.$ts': null }] };
    const { status, body } = await save(id, { step: 3, state }, { key: agentKey });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      checkpoint: { step: 3, state, timestamp: expect.any(String), resumeCount: 0 },
    });
    expect((await call('GET', id, undefined, { key: readKey })).body).toEqual({ checkpoint: body.checkpoint });
    expect((await call('DELETE', id)).body).toEqual({ success: true });
    expect((await call('DELETE', id)).body).toEqual({ success: true });
    expect((await call('GET', id)).body).toEqual({ checkpoint: null });
  });

  it('keeps no secrets', async () => {
    const { id } = await board.createTask();
    const { body } = await save(id, {
      state: { apiKey: 'x', log: `Bearer ${'a'.repeat(20)}`, nested: [{ token: 'y' }] },
    });
    expect(body.checkpoint.state).toEqual({ log: 'Bearer [REDACTED]', nested: [{}] });
    expect((await call('GET', id)).body.checkpoint).toEqual(body.checkpoint);
  });

  it('keeps its state out of the task and its lists', async () => {
    const { id } = await board.createTask();
    await save(id, { state: { large: 'x'.repeat(1_000_000) } });
    const { body } = await board.call('GET', `/api/tasks/${id}`);
    expect(body.checkpoint).toEqual({
      id: expect.any(String),
      step: 0,
      timestamp: expect.any(String),
      resumeCount: 0,
    });
    expect((await call('GET', id)).body.checkpoint.state.large).toHaveLength(1_000_000);
  });

  it('counts how often the task goes to in-progress, and is cleared when it is done', async () => {
    const { id } = await board.createTask();
    await save(id, { state: { a: 1 } });
    for (const status of ['in-progress', 'in-progress', 'blocked', 'in-progress']) {
      await move(id, status);
    }
    expect((await call('GET', id)).body.checkpoint).toMatchObject({ state: { a: 1 }, resumeCount: 2 });
    expect((await save(id, { step: 2, state: { a: 2 } })).body.checkpoint.resumeCount).toBe(2);
    expect((await move(id, 'done')).body).not.toHaveProperty('checkpoint');
    expect((await call('GET', id)).body).toEqual({ checkpoint: null });
    await move(id, 'in-progress');
    expect((await save(id, { state: {} })).body.checkpoint.resumeCount).toBe(0);
  });

  it('is cleared by the last subtask that completes the task', async () => {
    const fields = { title: 'a', autoCompleteOnSubtasks: true, subtasks: [{ id: 's', title: 'only' }] };
    const { id } = (await board.call('POST', '/api/tasks', { body: fields })).body;
    await save(id, { state: { a: 1 } });
    await board.call('PATCH', `/api/tasks/${id}/subtasks/s`, { body: { completed: true } });
    expect((await call('GET', id)).body).toEqual({ checkpoint: null });
  });

  it('expires after a day', async () => {
    const { id } = await board.createTask();
    await save(id, { state: { a: 1 } });
    await move(id, 'in-progress');
    const old = new Date(Date.now() - 25 * 3_600_000).toISOString();
    await editFile(id, (text) => text.replace(/timestamp: .*/, `timestamp: ${old}`));
    expect((await call('GET', id)).body).toEqual({ checkpoint: null, expired: true });
    expect((await save(id, { state: { a: 2 } })).body.checkpoint.resumeCount).toBe(0);
  });

  it('may be written into the file by hand', async () => {
    const { id } = await board.createTask();
    await editFile(id, (text) =>
      text.replace('status: todo', 'status: todo\ncheckpoint: {step: 4, state: {at: here}}'),
    );
    expect((await call('GET', id)).body.checkpoint).toMatchObject({ step: 4, state: { at: 'here' }, resumeCount: 0 });
  });

  it('is handed to the next run, with its state', async () => {
    const { id } = await board.createTask();
    await save(id, { step: 1, state: { at: 'here' } });
    const subject = await loadLaunchInputs(board.api.context, id, {});
    expect(subject?.task.checkpoint).toMatchObject({ step: 1, state: { at: 'here' } });
  });

  it('is always whole when it is saved by many at once', async () => {
    const { id } = await board.createTask();
    await save(id, { step: 0, state: { number: 0 } });
    const reads = Array.from({ length: 15 }, () => call('GET', id));
    const saves = Array.from({ length: 15 }, (_, number) => save(id, { step: number, state: { number } }));
    for (const { body } of [...(await Promise.all(reads)), await Promise.all(saves).then(() => call('GET', id))]) {
      expect(body.checkpoint.state.number).toBe(body.checkpoint.step);
    }
  });

  it.each([
    ['no state', {}, 'state'],
    ['a state that is a list', { state: [] }, 'state'],
    ['a step below nothing', { state: {}, step: -1 }, 'step'],
    ['a field that is none', { state: {}, resumeCount: 9 }, 'resumeCount'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const { id } = await board.createTask();
    const refused = await save(id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it.each([
    ['nested too deeply', `{"state":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, 400],
    ['nested absurdly deeply', `{"state":{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`, 400],
    ['for the prototype', '{"state":{"a":{"__proto__":{"b":1}}}}', 400],
    ['larger than a body may be', `{"state":{"a":"${'x'.repeat(1_048_576)}"}}`, 413],
    ['of the names every object has', '{"state":{"constructor":{"prototype":{"b":1}},"toString":1}}', 200],
  ])('answers a state that is %s', async (_case, body, status) => {
    const { id } = await board.createTask();
    const headers = { 'X-API-Key': agentKey, 'Content-Type': 'application/json' };
    const reply = await rawRequest(board.url, { method: 'POST', path: `/api/tasks/${id}/checkpoint`, headers, body });
    expect(reply.status).toBe(status);
    expect(({} as { b?: number }).b).toBeUndefined();
  });

  it('needs a task, the permission to write, and the revision the caller states', async () => {
    const { id } = await board.createTask();
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? { state: {} } : undefined;
      expect(await call(method, 'task_20260101_nobody', body)).toMatchObject({ status: 404 });
      if (method !== 'GET') {
        expect(await call(method, id, body, { key: readKey })).toMatchObject({ status: 403 });
      }
    }
    expect(await save(id, { state: {}, expectedRevision: 9 })).toMatchObject({ status: 409 });
  });
});
