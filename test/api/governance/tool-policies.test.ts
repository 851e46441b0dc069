import { createToolPolicyStore } from '../../../stores/governance/tool-policy-store';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('tool policies API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/tool-policies${rest}`, options);
  const ask = (role: string, tool: unknown) => call('POST', `/${role}/validate`, { body: { tool } });

  it('are there for the default roles from the first start', async () => {
    const { status, body } = await call('GET', '', { key: readKey });
    expect(status).toBe(200);
    expect(body.map(({ role }: { role: string }) => role)).toEqual(
      expect.arrayContaining([
        ...['planner', 'developer', 'reviewer', 'tester', 'deployer', 'researcher', 'orchestrator', 'content-writer'],
        'intern',
      ]),
    );
    expect((await ask('orchestrator', 'anything')).body.allowed).toBe(true);
    expect((await ask('developer', 'deploy_site')).body.allowed).toBe(false);
    expect((await ask('intern', 'write_file')).body.allowed).toBe(false);
  });

  it('are made, read, written over and deleted', async () => {
    const fields = { allowed: ['read', 'git.*'], denied: ['git.push'], description: 'Keeps the books' };
    const made = await call('POST', '', { body: { role: 'librarian', ...fields } });
    expect(made).toMatchObject({ status: 201, body: { role: 'librarian', ...fields, revision: 1 } });
    expect(made.body).not.toHaveProperty('id');
    expect((await call('GET', '/librarian', { key: readKey })).body).toEqual(made.body);
    expect(await call('POST', '', { body: { role: 'librarian' } })).toMatchObject({
      status: 409,
      body: { details: { resourceId: 'librarian', current: { role: 'librarian', ...fields } } },
    });

    const written = await call('PUT', '/librarian', { body: { role: 'librarian', allowed: ['*'] } });
    expect(written.body).toMatchObject({ allowed: ['*'], denied: [], description: '', revision: 2 });
    expect(await call('PUT', '/librarian', { body: { role: 'other' } })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'role' }] } },
    });
    expect((await call('DELETE', '/librarian')).status).toBe(204);
    for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
      expect(await call(method, '/librarian', { body })).toMatchObject({ status: 404 });
    }
    expect(await ask('librarian', 'read')).toMatchObject({ status: 404 });
  });

  it('are written by exactly one of several who have seen the same revision', async () => {
    await call('POST', '', { body: { role: 'contested' } });
    const headers = { 'If-Match': '"tool-policies:contested:1"' };
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((tool) => call('PUT', '/contested', { body: { allowed: [tool] }, headers })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await call('DELETE', '/contested', { headers })).toMatchObject({
      status: 409,
      body: { details: { currentRevision: 2, current: { role: 'contested', revision: 2 } } },
    });
  });

  it('decide, and write down why', async () => {
    await call('POST', '', { body: { role: 'cautious', allowed: ['*'], denied: ['rm'] } });
    const { body } = await ask('cautious', 'rm');
    expect(body).toEqual({ role: 'cautious', tool: 'rm', allowed: false, traceId: expect.any(String) });
    expect((await board.call('GET', `/api/governance/traces/${body.traceId}`)).body).toMatchObject({
      kind: 'tool-policy',
      outcome: 'blocked',
      subject: { actionType: 'rm' },
      matchedRules: [{ type: 'denied', label: 'rm' }],
      raw: { role: 'cautious', tool: 'rm' },
    });
  });

  it.each([
    ['a role that is no name', { role: '../x' }, 'role'],
    ['a pattern with * in its middle', { role: 'x', allowed: ['a*b'] }, 'allowed.0'],
    ['an empty pattern', { role: 'x', denied: [''] }, 'denied.0'],
    ['a field that is none', { role: 'x', tools: [] }, 'tools'],
  ])('are refused with %s by its path', async (_case, body, path) => {
    const refused = await call('POST', '', { body });
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
  });

  it('answer no question about a pattern', async () => {
    expect(await ask('orchestrator', 'a*')).toMatchObject({ status: 400 });
  });

  it('need policy:read to be read and policy:write to be changed', async () => {
    expect(await call('GET', '', { key: agentKey })).toMatchObject({ status: 403 });
    expect(await call('POST', '', { key: agentKey, body: { role: 'x' } })).toMatchObject({
      status: 403,
      body: { details: { required: ['policy:write'] } },
    });
    expect(await call('DELETE', '/intern', { key: readKey })).toMatchObject({ status: 403 });
  });

  it('are not made again once they were deleted', async () => {
    await call('DELETE', '/tester');
    const again = await Promise.all([1, 2].map(() => createToolPolicyStore(board.api.context.database)));
    expect(await again[0]!.get('tester')).toBeUndefined();
  });
});
