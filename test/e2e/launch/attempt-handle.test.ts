import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptHandleFile } from '../../../contracts/runs/attempt-handle';
import { eventually } from '../../../platform/testing/eventually';
import { Caller, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const adminKey = 'admin-key-of-this-test-0123456789abcdef';

let stack: Stack;
let admin: Caller;
let anonymous: Caller;
let copy: string;

beforeAll(async () => {
  stack = await startStack({ BOARD_AUTH_ENABLED: 'true', BOARD_ADMIN_KEY: adminKey });
  admin = new Caller(stack.url, { 'X-API-Key': adminKey });
  anonymous = new Caller(stack.url);
  copy = join(stack.dir, 'handle.json');
  await admin.addRepository('sample', await aRepository(stack.dir));
  await admin.configureAgents([
    { ...scriptAgent('handle-bearer', copy), launchesChildren: true },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});
afterAll(() => stack.close());

interface Run {
  taskId: string;
  attemptId: string;
}
type Copied = AttemptHandleFile & { path: string; mode: string; inEnvironment: boolean; inTask: boolean };

const waiting = (): Promise<{ id: string }> => admin.createTask({ title: 'Wait for it', agent: 'elsewhere' });
const launch = async (handle: string, body: object = {}) =>
  anonymous.post('/api/run-children', { taskId: (await waiting()).id, ...body }, { 'X-Board-Attempt-Handle': handle });
const as = (handle: string) => new Caller(stack.url, { 'X-Board-Attempt-Handle': handle });

describe('the handle of an attempt', () => {
  let parent: Run;
  let copied: Copied;
  beforeAll(async () => {
    const task = await admin.createTask({ title: 'Delegate', agent: 'handle-bearer', git: { repo: 'sample' } });
    parent = await admin.start(task.id, { commitPolicy: 'forbidden' });
    copied = await eventually(async () => JSON.parse(await readFile(copy, 'utf8')) as Copied);
  });

  it('is given to its agent in a file of its own, and is nowhere else', async () => {
    expect(copied).toMatchObject({
      schemaVersion: 'attempt-handle/v1',
      ...{ taskId: parent.taskId, attemptId: parent.attemptId },
      header: 'X-Board-Attempt-Handle',
      mode: '600',
      inEnvironment: false,
      inTask: false,
    });
    expect(copied.path).toBe(join(stack.dir, 'data', 'envelopes', `${parent.attemptId}.handle.json`));
    const published = await eventually(async () => {
      const events = await admin.events(parent.taskId, parent.attemptId);
      expect(JSON.stringify(events)).toContain('my handle is [REDACTED]');
      return JSON.stringify([events, await admin.status(parent.taskId)]);
    });
    expect(published).not.toContain(copied.handle);
    const { history } = await stack.temporal.workflow
      .getHandle(`run/${parent.attemptId}`)
      .fetchHistory()
      .then((all) => ({ history: JSON.stringify(all) }));
    expect(history).not.toContain(copied.handle);
  });

  it('launches no child that a policy or the permissions of its agent forbid', async () => {
    const path = '/api/agents/permissions/handle-bearer';
    await admin.ok('PUT', `${path}/level`, { level: 'specialist' });
    expect(await launch(copied.handle)).toMatchObject({
      status: 403,
      body: { code: 'POLICY_BLOCKED', details: { source: 'agent-permission', rule: 'capability' } },
    });
    await admin.ok('PUT', `${path}/level`, { level: 'intern' });
    expect(await launch(copied.handle)).toMatchObject({ status: 409, body: { code: 'APPROVAL_REQUIRED' } });
    await admin.ok('PUT', `${path}/level`, { level: 'lead' });
    const rules = [{ action: 'delegate', effect: 'deny' }];
    const policy = { name: 'No children', scope: { agents: ['handle-bearer'] }, rules };
    const { id } = await admin.ok('POST', '/api/policies', policy);
    expect(await launch(copied.handle)).toMatchObject({ status: 403, body: { details: { policy: id } } });
    await admin.ok('DELETE', `/api/policies/${id}`);
  });

  it('launches children of the attempt, and follows and stops its descendants', async () => {
    const { status, body: child } = await launch(copied.handle);
    expect(status).toBe(201);
    expect((await admin.status(child.taskId)).attempt).toMatchObject({
      parentAttemptId: parent.attemptId,
      commitPolicy: 'forbidden',
      createdBy: `agent:${parent.attemptId}`,
    });
    const grandchild = await admin.start((await waiting()).id, { parentAttemptId: child.attemptId });
    const agent = as(copied.handle);
    expect(await agent.ok('GET', `/api/run-children/${grandchild.attemptId}`)).toMatchObject({
      taskId: grandchild.taskId,
      parentAttemptId: child.attemptId,
      depth: 2,
      status: null,
    });
    const { events } = await agent.ok('GET', `/api/run-children/${grandchild.attemptId}/events?afterSequence=0`);
    expect(events.length).toBeGreaterThan(0);
    expect(await agent.ok('POST', `/api/run-children/${grandchild.attemptId}/stop`)).toMatchObject({
      attemptId: grandchild.attemptId,
      status: 'interrupted',
    });
    expect((await launch(copied.handle, { commitPolicy: 'required' })).body.code).toBe('CHILD_AUTHORITY_WIDENED');
    expect((await launch(copied.handle, { parentAttemptId: child.attemptId })).status).toBe(400);
  });

  it('opens nothing else, and nothing of others', async () => {
    const other = await admin.start((await waiting()).id);
    const agent = as(copied.handle);
    for (const id of [other.attemptId, parent.attemptId, 'attempt_unknown000']) {
      expect((await agent.get(`/api/run-children/${id}`)).status).toBe(404);
      expect((await agent.get(`/api/run-children/${id}/events?afterSequence=0`)).status).toBe(404);
      expect((await agent.post(`/api/run-children/${id}/stop`)).status).toBe(404);
    }
    expect((await agent.get('/api/tasks')).status).toBe(401);
    expect((await agent.post(`/api/agents/${other.taskId}/stop`, { attemptId: other.attemptId })).status).toBe(401);
    const bearer = { Authorization: `Bearer ${copied.handle}` };
    expect((await anonymous.send('GET', '/api/tasks', undefined, bearer)).status).toBe(401);
    expect((await admin.get(`/api/run-children/${other.attemptId}`)).status).toBe(401);
    const forged = `${copied.handle.slice(0, -4)}AAAA`;
    const anothers = copied.handle.replace(parent.attemptId, other.attemptId);
    for (const handle of [forged, anothers, 'nothing']) {
      expect((await launch(handle)).status).toBe(401);
    }
  });

  it('counts no more once the attempt has ended, and its file is gone', async () => {
    await admin.ok('POST', `/api/agents/${parent.taskId}/message`, {
      attemptId: parent.attemptId,
      message: 'go on',
      actor: 'ann',
    });
    const { attempt } = await admin.ended(parent.taskId);
    expect(attempt.completion.summary).toBe('done with [REDACTED]');
    expect((await launch(copied.handle)).status).toBe(401);
    await eventually(() => expect(existsSync(copied.path)).toBe(false));
  });

  it('counts no more once the attempt was stopped', async () => {
    const task = await admin.createTask({ title: 'Delegate', agent: 'handle-bearer', git: { repo: 'sample' } });
    const run = await admin.start(task.id);
    const { handle } = await eventually(async () => {
      const found = JSON.parse(await readFile(copy, 'utf8')) as Copied;
      expect(found.attemptId).toBe(run.attemptId);
      return found;
    });
    await admin.ok('POST', `/api/agents/${task.id}/stop`, { attemptId: run.attemptId });
    expect((await launch(handle)).status).toBe(401);
  });
});

it('an agent that runs elsewhere cannot be configured to have one', async () => {
  const answer = await admin.send('PUT', '/api/config/agents', {
    agents: [{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback', launchesChildren: true }],
  });
  expect(answer).toMatchObject({ status: 400 });
  expect(JSON.stringify(answer.body)).toContain('launchesChildren');
});
