import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentConfig } from '../../../contracts/settings/agent-config';
import { digestOf } from '../../../platform/json/digest';
import { createLog } from '../../../platform/log/log';
import { openDatabase } from '../../../stores/port/open';
import { createAttemptStore } from '../../../stores/runs/attempt-store';
import { createAgentConfigStore } from '../../../stores/settings/agent-config-store';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  process.env.WITNESS_API = stack.url;
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('worker-bee'),
    { ...scriptAgent('worker-bee', '5'), type: 'other-bee', model: 'large' },
    { ...scriptAgent('contract-witness'), environmentKeys: ['WITNESS_API'] },
    { ...scriptAgent('worker-bee'), type: 'keyless', environmentKeys: ['WITNESS_API', 'NO_SUCH_MODEL_KEY'] },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
});

afterAll(() => stack.close());

const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Do it', git: { repo: 'sample' }, ...fields });
const preview = (taskId: string, body: object = {}) =>
  stack.call.ok('POST', `/api/agents/${taskId}/launch-preview`, body);

const itsDatabase = () =>
  openDatabase({
    mongoUrl: stack.env.MONGODB_URL,
    dataDir: stack.env.BOARD_DATA_DIR,
    log: createLog({ name: 'test', level: 'silent' }),
  });

/** An agent that was configured before credentials were refused where they are saved. */
async function rememberLeaky(): Promise<void> {
  const database = await itsDatabase();
  try {
    const store = await createAgentConfigStore(database);
    const { agents } = await store.read();
    if (agents.some(({ type }) => type === 'leaky')) {
      return;
    }
    const leaky = { ...scriptAgent('worker-bee', '--api-key', 'correct-horse-battery'), type: 'leaky' };
    await store.replace([...agents, agentConfig.parse(leaky)]);
  } finally {
    await database.close();
  }
}

/** Previews, starts and waits; returns both manifests. */
async function both(taskId: string, body: object = {}) {
  const previewed = await preview(taskId, body);
  await stack.call.start(taskId, body);
  const ended = await stack.call.ended(taskId);
  return { previewed: previewed.manifest, started: ended.runLaunchManifest };
}

test('a start launches exactly what its preview shows: on a new worktree, on a dirty one, after edits', async () => {
  const task = await aTask({ description: 'words', executionPolicy: { commitPolicy: 'forbidden' } });
  const fresh = await both(task.id);
  expect(fresh.previewed).toEqual(fresh.started);

  const { path } = (await stack.call.status(task.id)).taskEnvelope.workspace;
  await writeFile(join(path, 'README.md'), 'changed by hand\n');
  const dirty = await both(task.id, { agent: 'other-bee', commitPolicy: 'required' });
  expect(dirty.previewed).toEqual(dirty.started);
  expect(dirty.started.workspace.baseline).toMatchObject({ dirty: true });
  expect(dirty.started.digest).not.toBe(fresh.started.digest);
});

test('variables of the agent that its host does not have are findings of the preview and of the start', async () => {
  const { previewed, started } = await both((await aTask()).id, { agent: 'keyless' });
  expect(previewed.readiness.ready).toBe(true);
  const codes = previewed.readiness.warnings.filter((code: string) => code.startsWith('environment-missing:'));
  expect(codes).toEqual(['environment-missing:NO_SUCH_MODEL_KEY']);
  expect(previewed.enforcement.warnings).toContainEqual({
    code: 'environment-missing:NO_SUCH_MODEL_KEY',
    message: expect.any(String),
    variable: 'NO_SUCH_MODEL_KEY',
    remedy: expect.stringContaining('Set NO_SUCH_MODEL_KEY in the environment of the worker'),
  });
  expect(JSON.stringify(previewed)).not.toContain(stack.url);
  expect(started).toEqual(previewed);
});

test('a run without a repository is previewed as it is started, too', async () => {
  const task = await stack.call.createTask({ title: 'Far away' });
  const { manifest } = await preview(task.id, { agent: 'elsewhere' });
  const { attemptId } = await stack.call.start(task.id, { agent: 'elsewhere' });
  const { runLaunchManifest } = await stack.call.status(task.id);
  await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
  expect(manifest).toEqual(runLaunchManifest);
});

test('the envelope reports every file that was not as in HEAD', async () => {
  const task = await aTask({ executionPolicy: { commitPolicy: 'forbidden' } });
  await both(task.id);
  await stack.call.start(task.id);
  const { taskEnvelope } = await stack.call.ended(task.id);
  expect(taskEnvelope.workspace.baseline).toMatchObject({
    dirty: true,
    headSha: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
  expect(taskEnvelope.workspace.baseline.files).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: 'step-1.txt', status: 'untracked', worktreeSha256: expect.any(String) }),
    ]),
  );
});

test('the contract is recorded before the agent exists, and the agent is given the recorded one', async () => {
  const task = await aTask({ title: 'Watch' });
  const started = await stack.call.start(task.id, { agent: 'contract-witness' });
  const { taskEnvelope, runLaunchManifest } = await stack.call.ended(task.id);
  const seen = JSON.parse(readFileSync(join(taskEnvelope.workspace.path, 'witness.json'), 'utf8'));
  expect(seen.status).toMatchObject({
    attemptId: started.attemptId,
    taskEnvelope,
    runLaunchManifest,
    providerRuntimeManifest: { digest: started.providerRuntimeManifestDigest },
  });
  const { digest, ...document } = seen.transport;
  expect(digestOf(document)).toBe(digest);
  expect(document).toMatchObject({
    schemaVersion: 'provider-task-envelope-transport/v1',
    attemptId: started.attemptId,
    adapter: 'process/v1',
    envelope: taskEnvelope,
  });
});

test('a contract that is recorded is never written again', async () => {
  const database = await itsDatabase();
  try {
    const attempts = await createAttemptStore(database);
    const task = await aTask();
    await stack.call.start(task.id, { agent: 'elsewhere' });
    const record = await attempts.latest(task.id);
    const { providerRuntimeManifest, taskEnvelope, runLaunchManifest, transport, launch, hostId } = record!;
    const again = { providerRuntimeManifest, taskEnvelope, runLaunchManifest, transport, launch, hostId };
    expect(
      await attempts.markPrepared(record!._id, again as Parameters<typeof attempts.markPrepared>[1]),
    ).toBeUndefined();
    await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId: record!._id });
  } finally {
    await database.close();
  }
});

test.each([
  ['attempt', { attempt: { id: 'attempt_aaaaaaaa', taskEnvelope: {} } }],
  ['attempt', { attempt: { completionResult: {} } }],
  ['attempt', { attempt: { id: 'attempt_aaaaaaaa', status: 'running' } }],
  ['attempts', { attempts: [{ id: 'attempt_aaaaaaaa' }] }],
  ['runLaunchManifest', { runLaunchManifest: {} }],
  ['taskEnvelope', { taskEnvelope: {} }],
  ['providerRuntimeManifest', { providerRuntimeManifest: {} }],
  ['completionResult', { completionResult: { status: 'success' } }],
  ['runMetadata', { runMetadata: {} }],
])('a generic change of a task cannot set %s', async (field, body) => {
  const task = await aTask();
  const answer = await stack.call.send('PATCH', `/api/tasks/${task.id}`, body);
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'VALIDATION_ERROR', details: { issues: [expect.objectContaining({ path: field })] } },
  });
});

test('a preview compares itself with a parent attempt', async () => {
  const task = await aTask();
  const { attemptId } = await stack.call.start(task.id);
  await stack.call.ended(task.id);
  const { parentAttemptId, drift } = await preview(task.id, { parentAttemptId: attemptId, agent: 'other-bee' });
  expect(parentAttemptId).toBe(attemptId);
  expect(drift).toMatchObject({ parentAttemptId: attemptId, drifted: true });
  expect(drift.fields).toContainEqual({ field: 'routing.selectedAgent', parent: 'worker-bee', current: 'other-bee' });
  const other = await aTask();
  const answer = await stack.call.post(`/api/agents/${other.id}/launch-preview`, { parentAttemptId: attemptId });
  expect(answer).toMatchObject({ status: 409, body: { code: 'PARENT_NOT_RUNNING' } });
  expect((await stack.call.post(`/api/agents/${other.id}/start`, { parentAttemptId: attemptId })).status).toBe(409);
});

test('neither preview nor manifest holds the words of a task, and credentials reach nothing that is stored', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const task = await aTask({ description: `Private words with ${token}` });
  const shown = await preview(task.id);
  await stack.call.start(task.id);
  const status = await stack.call.ended(task.id);
  expect(JSON.stringify(shown)).not.toContain('Private words');
  expect(JSON.stringify(status.runLaunchManifest)).not.toContain('Private words');
  expect(status.taskEnvelope.objective.description).toBe('Private words with [REDACTED]');
  expect(JSON.stringify(status)).not.toContain(token);
  expect(shown.manifest.enforcement.warnings).toContainEqual(expect.objectContaining({ code: 'task-text-changed' }));
});

test.each(['launch-preview', 'start'])('a configuration with a credential in it is refused by %s', async (endpoint) => {
  await rememberLeaky();
  const task = await aTask();
  const answer = await stack.call.post(`/api/agents/${task.id}/${endpoint}`, { agent: 'leaky' });
  expect(answer).toMatchObject({ status: 409, body: { code: 'SECRET_IN_LAUNCH', details: { agent: 'leaky' } } });
  expect(JSON.stringify(answer.body)).not.toContain('correct-horse');
});

describe('profiles and sandbox presets', () => {
  const put = (id: string, fields: object) =>
    stack.call.ok('PUT', `/api/config/profiles/${id}`, { name: id, agent: 'worker-bee', ...fields });
  const refused = async (body: object, details: object, code = 'LAUNCH_NOT_ENFORCEABLE') => {
    const task = await aTask();
    for (const endpoint of ['launch-preview', 'start']) {
      const answer = await stack.call.post(`/api/agents/${task.id}/${endpoint}`, body);
      expect(answer).toMatchObject({ status: 409, body: { code, details } });
    }
    expect(await stack.call.status(task.id)).toMatchObject({ attemptId: null });
    return task;
  };
  const blockers = (...codes: string[]) => ({ blockers: codes.map((code) => expect.objectContaining({ code })) });

  test('a profile chooses agent and model, and its instructions reach the agent as a section of their own', async () => {
    await put('witness', { agent: 'contract-witness', model: 'large', instructions: 'Mind the gap.' });
    const task = await aTask({ agent: 'worker-bee' });
    await stack.call.start(task.id, { profileId: 'witness' });
    const { taskEnvelope, runLaunchManifest } = await stack.call.ended(task.id);
    expect(runLaunchManifest).toMatchObject({
      profile: { id: 'witness', revision: 1 },
      routing: { selectedAgent: 'contract-witness' },
      runtime: { model: 'large' },
    });
    const { transport } = JSON.parse(readFileSync(join(taskEnvelope.workspace.path, 'witness.json'), 'utf8'));
    expect(transport.sections).toEqual([
      { id: 'profile-instructions', title: 'Instructions', source: 'profile:witness', text: 'Mind the gap.' },
    ]);
  });

  test('what a profile asks for and its agent cannot do blocks preview and start alike', async () => {
    await put('restricted', { restrictions: { mcpServers: ['docs'] } });
    await refused({ profileId: 'restricted' }, blockers('restriction-unenforceable:mcpServers'));
    await put('demanding', { requiredChecks: [{ kind: 'capability', capability: 'run.fork' }] });
    await refused({ profileId: 'demanding' }, blockers('check-failed:capability:run.fork'));
    await put('off', { enabled: false });
    await refused({ profileId: 'off' }, { field: 'profileId' }, 'RUN_NOT_READY');
    await refused({ profileId: 'nowhere' }, { field: 'profileId' }, 'RUN_NOT_READY');
    await refused({ profileId: 'demanding', agent: 'other-bee' }, { field: 'agent' }, 'RUN_NOT_READY');
  });

  test('a required control that cannot be enforced blocks, an advisory one warns', async () => {
    const create = (body: object) => stack.call.ok('POST', '/api/sandbox-policies', body);
    await create({ id: 'offline', name: 'Offline', filesystem: { localOnlyHandles: true } });
    const { id: taskId } = await refused(
      { sandboxPresetId: 'offline' },
      blockers('sandbox-unenforced:filesystem.localOnlyHandles'),
    );
    expect(await stack.call.ok('GET', `/api/governance/traces?kind=sandbox-policy&taskId=${taskId}`)).toMatchObject([
      {
        outcome: 'blocked',
        subject: { actionType: 'run.start' },
        matchedRules: [{ id: 'filesystem.localOnlyHandles', outcome: 'blocked' }],
      },
    ]);
    const blockedRule = expect.objectContaining({
      id: 'sandbox-unenforced:filesystem.localOnlyHandles',
      outcome: 'blocked',
    });
    expect(await stack.call.ok('GET', `/api/governance/traces?kind=policy&taskId=${taskId}`)).toMatchObject([
      { outcome: 'blocked', matchedRules: expect.arrayContaining([blockedRule]) },
    ]);
    await refused({ sandboxPresetId: 'nowhere' }, { field: 'sandboxPresetId' }, 'RUN_NOT_READY');

    await create({
      id: 'hinted',
      name: 'Hinted',
      enforcement: 'advisory',
      filesystem: { localOnlyHandles: true },
      network: { defaultEgress: 'deny' },
    });
    const task = await aTask();
    const { manifest } = await preview(task.id, { sandboxPresetId: 'hinted' });
    expect(manifest.enforcement.warnings).toContainEqual(
      expect.objectContaining({ code: 'sandbox-unenforced:filesystem.localOnlyHandles' }),
    );
    expect(manifest.permissions.sideEffects.map(({ kind }: { kind: string }) => kind)).not.toContain('network-egress');

    await stack.call.start(task.id, { sandboxPresetId: 'hinted' });
    await stack.call.ended(task.id);
    expect(await stack.call.ok('GET', `/api/governance/traces?kind=sandbox-policy&taskId=${task.id}`)).toMatchObject([
      {
        outcome: 'warned',
        subject: { actionType: 'run.start' },
        matchedRules: [
          { id: 'filesystem.localOnlyHandles', outcome: 'warned' },
          { id: 'network.defaultEgress', outcome: 'allowed' },
        ],
      },
    ]);
  });

  test('an agent gets no more of its variables than the sandbox lets through', async () => {
    await stack.call.ok('POST', '/api/sandbox-policies', {
      id: 'quiet',
      name: 'Quiet',
      environment: { passthrough: ['SOMETHING_ELSE'] },
    });
    const task = await aTask();
    const { manifest } = await preview(task.id, { agent: 'contract-witness', sandboxPresetId: 'quiet' });
    expect(manifest.runtime.environmentKeys).toEqual([]);
    expect(manifest.origins).toContainEqual(
      expect.objectContaining({ field: 'environmentKeys', scope: 'sandbox', source: 'sandbox:quiet' }),
    );
  });
});

test('a policy trace reports each launch before its agent is dispatched', async () => {
  const task = await aTask();
  await stack.call.start(task.id);
  const { runLaunchManifest, attemptId } = await stack.call.ended(task.id);
  const traces = await stack.call.ok('GET', `/api/governance/traces?kind=policy&taskId=${task.id}`);
  expect(traces).toHaveLength(1);
  const [started] = await stack.call.events(task.id, attemptId);
  expect(traces[0].createdAt <= started.receivedAt).toBe(true);
  const { raw } = await stack.call.ok('GET', `/api/governance/traces/${traces[0].id}`);
  expect(raw).toMatchObject({ attemptId, runLaunchManifestDigest: runLaunchManifest.digest });
});

test('the legacy setting decides the commit policy where run and task have none', async () => {
  const policy = async (body: object, fields: object = {}) =>
    (await preview((await aTask(fields)).id, body)).manifest.permissions.commitPolicy;
  await changeFeatures(stack.call, { agents: { autoCommitOnComplete: true } });
  expect(await policy({})).toBe('required');
  expect(await policy({}, { executionPolicy: { commitPolicy: 'forbidden' } })).toBe('forbidden');
  expect(await policy({ commitPolicy: 'allowed' })).toBe('allowed');
  await changeFeatures(stack.call, { agents: { autoCommitOnComplete: false } });
  expect(await policy({})).toBe('allowed');
});
