import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('agent permissions API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/agents/permissions${rest}`, options);
  const check = (agentId: string, action: string, more: object = {}) =>
    call('POST', '/check', { key: agentKey, body: { agentId, action, ...more } });
  const ask = async (agentId: string, action: string) =>
    (await call('POST', '/approvals', { key: agentKey, body: { agentId, action, reason: 'It is <b>needed</b>' } }))
      .body;
  const review = (id: string, decision: string, options: CallOptions = {}) =>
    call('POST', `/approvals/${id}`, { body: { decision }, ...options });

  it('are those of a specialist unless they are set', async () => {
    expect((await call('GET', '/nobody-set', { key: readKey })).body).toEqual({
      agentId: 'nobody-set',
      level: 'specialist',
      canCreateTasks: true,
      canDelegate: false,
      canApprove: false,
      trustedDomains: [],
      restrictions: [],
      revision: 0,
    });
  });

  it('are set once, listed, and changed in part', async () => {
    const made = await call('POST', '', { body: { agentId: 'ant', level: 'intern', canCreateTasks: true } });
    expect(made).toMatchObject({
      status: 201,
      body: { agentId: 'ant', level: 'intern', canCreateTasks: true, canDelegate: false, revision: 1 },
    });
    expect(await call('POST', '', { body: { agentId: 'ant' } })).toMatchObject({
      status: 409,
      body: { details: { current: { agentId: 'ant', level: 'intern' } } },
    });
    const patch = { trustedDomains: ['example.org'], restrictions: ['deploy*'] };
    const changed = await call('PATCH', '/ant', { body: patch });
    expect(changed.body).toMatchObject({ ...patch, level: 'intern', canCreateTasks: true, revision: 2 });
    expect((await call('GET', '/ant', { key: agentKey })).body).toEqual(changed.body);
    expect((await call('GET')).body).toContainEqual(changed.body);
  });

  it.each(['https://example.org', 'example.org:80', 'example.org/x', 'a b', '*', '*.', '-a.test', 'a..b'])(
    'refuse the trusted domain %s, which no host has',
    async (domain) => {
      for (const [method, path, body] of [
        ['PATCH', '/ant', {}],
        ['POST', '', { agentId: 'moth' }],
      ] as const) {
        expect(await call(method, path, { body: { ...body, trustedDomains: ['a.test', domain] } })).toMatchObject({
          status: 400,
          body: { details: { issues: [{ path: 'trustedDomains.1' }] } },
        });
      }
    },
  );

  it('follow the level that an agent is given', async () => {
    expect((await call('PUT', '/drone/level', { body: { level: 'lead' } })).body).toMatchObject({
      level: 'lead',
      canCreateTasks: true,
      canDelegate: true,
      canApprove: true,
      revision: 1,
    });
    expect((await call('PUT', '/drone/level', { body: { level: 'intern' } })).body).toMatchObject({
      level: 'intern',
      canCreateTasks: false,
      revision: 2,
    });
  });

  it('are changed by exactly one of several who have seen the same revision', async () => {
    const headers = { 'X-Resource-Revision': '1' };
    await call('PUT', '/moth/level', { body: { level: 'lead' } });
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => call('PATCH', '/moth', { body: { canApprove: false }, headers })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await call('PUT', '/moth/level', { body: { level: 'intern' }, headers })).toMatchObject({
      status: 409,
      body: { details: { currentRevision: 2, current: { agentId: 'moth', level: 'lead' } } },
    });
  });

  it('decide, and write down why', async () => {
    await call('PUT', '/grub/level', { body: { level: 'intern' } });
    const { status, body } = await check('grub', 'delegate');
    expect(status).toBe(200);
    expect(body).toMatchObject({ allowed: false, level: 'intern', requiresApproval: true });
    expect((await board.call('GET', `/api/governance/traces/${body.traceId}`)).body).toMatchObject({
      kind: 'agent-permission',
      outcome: 'approval-required',
      subject: { agentId: 'grub', actionType: 'delegate' },
    });
    expect((await check('unknown-agent', 'create-task')).body).toMatchObject({ allowed: true, level: 'specialist' });
  });

  it('are asked about the host that an action reaches, where the agent has trusted domains', async () => {
    const reaches = async (more: object) => (await check('nurse', 'fetch', more)).body;
    expect(await reaches({ host: 'evil.test' })).toMatchObject({ allowed: true });
    await call('PATCH', '/nurse', { body: { trustedDomains: ['example.org', '*.example.org'] } });
    for (const trusted of [{}, { host: 'example.org' }, { url: 'https://API.example.org:8443/x' }]) {
      expect(await reaches(trusted)).toMatchObject({ allowed: true, requiresApproval: false });
    }
    const { id } = await ask('nurse', 'fetch');
    await review(id, 'approved');
    for (const other of [{ host: 'evil.test' }, { url: 'https://example.org.evil.test/' }, { url: 'http://[::1]/' }]) {
      const answer = await reaches({ ...other, approvalId: id });
      expect(answer).toMatchObject({ allowed: false, requiresApproval: true });
      expect((await board.call('GET', `/api/governance/traces/${answer.traceId}`)).body).toMatchObject({
        outcome: 'approval-required',
        evaluatedRules: [{ id: 'trusted-domains' }],
        raw: other,
      });
    }
    await call('PATCH', '/nurse', { body: { restrictions: ['fetch'] } });
    expect(await reaches({ host: 'evil.test' })).toMatchObject({ allowed: false, requiresApproval: false });
  });

  it.each([
    [{ host: 'https://example.org' }, 'host'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'https://me:secret@example.org' }, 'url'],
    [{ url: 'https://example.org', host: 'example.org' }, 'url'],
  ])('refuse to be asked about %j', async (reached, path) => {
    const { status, body } = await check('nurse', 'fetch', reached);
    expect([status, body.details.issues[0].path]).toEqual([400, path]);
  });

  it('are widened for one action by an approval', async () => {
    await call('PUT', '/larva/level', { body: { level: 'intern' } });
    const { id, ...asked } = await ask('larva', 'create-task');
    expect(asked).toEqual({
      agentId: 'larva',
      action: 'create-task',
      reason: 'It is needed',
      status: 'pending',
      requestedBy: 'agent:worker',
      createdAt: expect.any(String),
    });
    const pending = () => call('GET', '/approvals?agentId=larva', { key: readKey });
    expect((await pending()).body).toEqual([{ id, ...asked }]);
    expect((await check('larva', 'create-task', { approvalId: id })).body.allowed).toBe(false);

    expect(await review(id, 'approved')).toMatchObject({
      status: 200,
      body: { id, status: 'approved', reviewedBy: expect.any(String), traceId: expect.any(String) },
    });
    expect((await pending()).body).toEqual([]);
    expect((await check('larva', 'create-task', { approvalId: id })).body.allowed).toBe(true);
    expect((await check('larva', 'delegate', { approvalId: id })).body.allowed).toBe(false);
    expect((await check('larva', 'create-task')).body.allowed).toBe(false);
    expect(await check('larva', 'create-task', { approvalId: 'approval_000000000000' })).toMatchObject({ status: 404 });
  });

  it('have approvals that exactly one of several reviews decides', async () => {
    const { id } = await ask('contested', 'delegate');
    const replies = await Promise.all(
      ['approved', 'rejected', 'approved', 'rejected'].map((decision) => review(id, decision)),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const winner = replies.find(({ status }) => status === 200)!.body;
    for (const { body } of replies.filter(({ status }) => status === 409)) {
      expect(body.details.current).toMatchObject({ id, status: winner.status, reviewedAt: winner.reviewedAt });
    }
    expect(await review('approval_000000000000', 'approved')).toMatchObject({ status: 404 });
  });

  it.each([
    ['POST', '', { agentId: 'x', level: 'boss' }, 'level'],
    ['POST', '', { level: 'lead' }, 'agentId'],
    ['PATCH', '/x', { level: 'lead' }, 'level'],
    ['PATCH', '/x', { restrictions: ['a b'] }, 'restrictions.0'],
    ['PUT', '/x/level', {}, 'level'],
    ['POST', '/check', { agentId: 'x' }, 'action'],
    ['POST', '/approvals', { agentId: 'x', action: 'delegate', taskId: '../x' }, 'taskId'],
    ['POST', '/approvals/approval_000000000000', { decision: 'maybe' }, 'decision'],
  ])('%s %s refuses %p by the path of the field', async (method, rest, body, path) => {
    expect(await call(method, rest, { body })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path }] } },
    });
  });

  it('are set and reviewed by administrators only', async () => {
    const { id } = await ask('x', 'delegate');
    for (const [method, rest, body] of [
      ['POST', '', { agentId: 'x' }],
      ['PATCH', '/x', {}],
      ['PUT', '/x/level', { level: 'lead' }],
      ['POST', `/approvals/${id}`, { decision: 'approved' }],
    ] as const) {
      expect(await call(method, rest, { body, key: agentKey })).toMatchObject({ status: 403 });
    }
    const body = { agentId: 'x', action: 'delegate' };
    expect(await call('POST', '/approvals', { body, key: readKey })).toMatchObject({ status: 403 });
  });
});
