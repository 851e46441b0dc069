import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SecuredStack, startSecuredStack } from '../../support/stack/secured-stack';

let secured: SecuredStack;

beforeAll(async () => {
  secured = await startSecuredStack();
  await secured.admin.configureAgents([
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    { type: 'here', name: 'Here', provider: 'process', command: '/bin/cat' },
  ]);
});

afterAll(() => secured.stack.close());

const secretHeader = (secret: string) => ({ 'x-board-callback-secret': secret });

/** A run of an agent elsewhere, and reports about it with the key of the role agent. */
async function aRemoteRun(key = `launch-${Math.random()}`) {
  const { id } = await secured.admin.createTask({ title: 'Far away' });
  const launch = () => secured.admin.start(id, { agent: 'elsewhere' }, { 'x-idempotency-key': key });
  const started = await launch();
  const { attemptId, callback } = started;
  const complete = (body: object = {}, headers?: Record<string, string>, by = secured.agent) =>
    by.post(`/api/agents/${id}/complete`, { attemptId, success: true, summary: 'done', ...body }, headers);
  return {
    id: id as string,
    attemptId: attemptId as string,
    secret: callback.secret as string,
    started,
    launch,
    complete,
  };
}

describe('a run of an agent elsewhere', () => {
  it('is completed with its callback secret only, by the legacy body as well, and again by the same report', async () => {
    const { id, secret, started, complete } = await aRemoteRun();
    expect(secret).toMatch(/^rbcs_[A-Za-z0-9_-]{43}$/);
    expect(started.callback).toEqual({ secret, header: 'X-Board-Callback-Secret', url: `/api/agents/${id}/complete` });
    const other = await aRemoteRun();
    expect(await complete()).toMatchObject({ status: 403, body: { code: 'CALLBACK_SECRET_REQUIRED' } });
    for (const wrong of [other.secret, `${secret}x`, 'x']) {
      const refused = { status: 403, body: { code: 'CALLBACK_SECRET_INVALID' } };
      expect(await complete({}, secretHeader(wrong))).toMatchObject(refused);
      expect(await complete({ callbackSecret: wrong })).toMatchObject(refused);
    }
    expect((await secured.admin.status(id)).running).toBe(true);
    const { providerRuntimeManifestDigest } = started;
    const legacy = { providerRuntimeManifestDigest };
    expect(await complete(legacy, secretHeader(secret))).toMatchObject({ status: 200, body: { received: true } });
    expect(await complete({ callbackSecret: secret })).toMatchObject({ status: 200, body: { received: true } });
    expect(await complete()).toMatchObject({ status: 403 });
    expect(await secured.admin.ok('GET', `/api/tasks/${id}`)).toMatchObject({ status: 'done' });
    const { entries } = await secured.admin.ok('GET', '/api/audit?action=run.complete');
    expect(entries).toEqual([]);
  });

  it('is completed by an administrator without it, which the audit log reports', async () => {
    const { attemptId, complete } = await aRemoteRun();
    expect(await complete({}, secretHeader('wrong'), secured.admin)).toMatchObject({ status: 403 });
    expect(await complete({}, undefined, secured.admin)).toMatchObject({ status: 200 });
    const { entries } = await secured.admin.ok('GET', `/api/audit?action=run.complete&resource=${attemptId}`);
    expect(entries).toMatchObject([{ actor: 'service:admin', details: { proof: 'admin:manage' } }]);
  });

  it('has its tokens reported with its secret only', async () => {
    const { id, attemptId, secret } = await aRemoteRun();
    const report = (body: object, headers?: Record<string, string>) =>
      secured.agent.post(`/api/agents/${id}/tokens`, { attemptId, inputTokens: 1, outputTokens: 1, ...body }, headers);
    expect(await report({})).toMatchObject({ status: 403, body: { code: 'CALLBACK_SECRET_REQUIRED' } });
    expect(await report({ callbackSecret: (await aRemoteRun()).secret })).toMatchObject({ status: 403 });
    expect(await report({}, secretHeader(secret))).toMatchObject({ status: 201 });
  });

  it('answers the same secret to the same launch, and no other answer and no store has it', async () => {
    const { id, attemptId, secret, started, launch, complete } = await aRemoteRun('launched-again-and-again');
    expect(await launch()).toEqual({ ...started, replayed: true });
    await complete({ summary: `I was given ${secret}` }, secretHeader(secret));
    await secured.admin.ended(id);
    const paths = [
      `/api/agents/${id}/status`,
      `/api/agents/${id}/attempts`,
      `/api/agents/${id}/attempts/${attemptId}/events`,
      `/api/tasks/${id}`,
      `/api/admission/${attemptId}`,
      '/api/audit',
      '/api/telemetry/events',
    ];
    for (const path of paths) {
      expect(JSON.stringify(await secured.admin.ok('GET', path))).not.toContain(secret);
    }
    const files = readdirSync(secured.stack.dir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const holding = files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes(secret));
    expect(holding.map(({ name }) => name)).toEqual([]);
    expect(files.length).toBeGreaterThan(2);
  });

  it('gets another secret from an administrator, and the one before counts no more', async () => {
    const { id, attemptId, secret, launch, complete } = await aRemoteRun('launched-and-renewed');
    const path = `/api/agents/${id}/attempts/${attemptId}/callback-secret`;
    expect(await secured.agent.post(path)).toMatchObject({ status: 403 });
    const { callback } = await secured.admin.ok('POST', path);
    expect(callback.secret).not.toBe(secret);
    expect((await launch()).callback).toBeUndefined();
    expect(await complete({}, secretHeader(secret))).toMatchObject({ status: 403 });
    expect(await complete({}, secretHeader(callback.secret))).toMatchObject({ status: 200 });
    expect(await secured.admin.post(path)).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
    const { entries } = await secured.admin.ok(
      'GET',
      `/api/audit?action=run.renew-callback-secret&resource=${attemptId}`,
    );
    expect(entries).toMatchObject([{ action: 'run.renew-callback-secret', actor: 'service:admin' }]);
  });
});
