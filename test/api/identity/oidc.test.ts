import { eventually } from '../../../platform/testing/eventually';
import { Browser } from '../../support/identity-provider/browser';
import { TestWatcher } from '../../support/watcher';
import { startTestApi } from '../api-under-test';
import { atProvider, type OidcUnderTest, startOidc } from './oidc-under-test';

describe('sign-in with OpenID Connect', () => {
  let oidc: OidcUnderTest;
  beforeAll(async () => {
    oidc = await startOidc();
  });
  afterAll(() => oidc.close());

  const person = async (login: string, claims: object = {}) => {
    await oidc.provider.setClaims(login, {
      name: `${login} of the team`,
      email: `${login}@corp.example`,
      email_verified: true,
      groups: ['dev'],
      ...claims,
    });
    return new Browser();
  };
  const url = (path: string) => `${oidc.publicUrl}${path}`;
  const callbackPath = '/api/auth/oidc/callback';
  const codeOf = (text: string): string => JSON.parse(text).code;
  const membersNamed = async (displayName: string) => {
    const { body } = await oidc.board.call('GET', '/api/identity/workspaces/local/members?limit=200');
    return body.filter((member: { displayName: string }) => member.displayName === displayName);
  };

  it('leads to the provider and back to the page that was asked for, with a session', async () => {
    const browser = await person('ann');
    const page = await oidc.signIn(browser, 'ann', '/health?from=sign-in');
    expect([page.url.href, page.status]).toEqual([url('/health?from=sign-in'), 200]);
    expect(await oidc.context(browser)).toMatchObject({
      status: 200,
      body: {
        role: 'agent',
        workspaceId: 'local',
        actorType: 'user',
        authMethod: 'session',
        userId: expect.stringMatching(/^user_/),
      },
    });
    const profile = await (await browser.call(url('/api/identity/profile'))).json();
    expect(profile).toMatchObject({ user: { displayName: 'ann of the team', email: 'ann@corp.example' } });
    expect(browser.cookie(oidc.publicUrl, 'board_oidc_login')).toBeUndefined();
  });

  it('knows a person by issuer and subject: once, with the name of today, and apart from others with the same address', async () => {
    await oidc.signIn(await person('bea', { email: 'shared@corp.example' }), 'bea');
    await oidc.signIn(await person('bea', { name: 'Bea', email: 'shared@corp.example' }), 'bea');
    await oidc.signIn(await person('mallory', { name: 'Mallory', email: 'shared@corp.example' }), 'mallory');
    expect(await membersNamed('bea of the team')).toEqual([]);
    const [bea, mallory] = [await membersNamed('Bea'), await membersNamed('Mallory')];
    expect([bea.length, mallory.length]).toEqual([1, 1]);
    expect(bea[0].userId).not.toBe(mallory[0].userId);
  });

  it.each<[string, object, string]>([
    ['no group with a role', { groups: ['guests'] }, 'OIDC_NO_ROLE'],
    ['no groups', { groups: undefined }, 'OIDC_NO_ROLE'],
  ])('refuses a person with %s, who becomes no user', async (_case, claims, code) => {
    const browser = await person('stranger', { name: 'Stranger', ...claims });
    const page = await oidc.signIn(browser, 'stranger');
    expect([page.status, codeOf(page.text)]).toEqual([403, code]);
    expect((await oidc.context(browser)).status).toBe(401);
    expect(await membersNamed('Stranger')).toEqual([]);
  });

  it('changes the role of open sessions too, down and up, at the next sign-in', async () => {
    const browser = await person('carl', { groups: ['ops'] });
    await oidc.signIn(browser, 'carl');
    const { body } = await oidc.context(browser);
    expect([body.role, body.capabilities, body.administersInstallation]).toEqual([
      'admin',
      ['agent:run:unrestricted'],
      undefined,
    ]);
    for (const [groups, role] of [
      [['all'], 'read-only'],
      [['dev', 'all'], 'agent'],
    ] as const) {
      await oidc.signIn(await person('carl', { groups }), 'carl');
      expect((await oidc.context(browser)).body.role).toBe(role);
    }
  });

  it('ends what a person has when its groups give nothing any more, and gives it back when they do', async () => {
    const browser = await person('dora');
    await oidc.signIn(browser, 'dora');
    const watcher = await TestWatcher.open(oidc.board.url, {
      headers: { Cookie: `board_session=${browser.cookie(oidc.publicUrl, 'board_session')}` },
    });
    const refused = await oidc.signIn(await person('dora', { groups: [] }), 'dora');
    expect([refused.status, codeOf(refused.text)]).toEqual([403, 'OIDC_NO_ROLE']);
    expect((await oidc.context(browser)).status).toBe(401);
    await eventually(() => expect(watcher.closed?.code).toBe(4001));
    const [member] = await membersNamed('dora of the team');
    expect(member).toBeUndefined();
    await oidc.signIn(await person('dora'), 'dora');
    expect(await membersNamed('dora of the team')).toMatchObject([{ role: 'agent', status: 'active' }]);
  });

  it('gives a session no more than its groups, when the member is the last administrator and remains one', async () => {
    const memberPath = '/api/identity/workspaces/local/members/member_000000000000';
    const browser = await person('zoe', { groups: ['ops'] });
    await oidc.signIn(browser, 'zoe');
    const others = (await oidc.board.call('GET', '/api/identity/workspaces/local/members?limit=200')).body
      .filter(
        (member: { role: string; displayName: string }) => member.role === 'admin' && !/^zoe/.test(member.displayName),
      )
      .map((member: { id: string }) => member.id);
    expect(others).toEqual(['member_000000000000']);
    const set = (status: string) => oidc.board.call('PATCH', memberPath, { body: { status } });
    expect((await set('suspended')).status).toBe(200);
    await oidc.signIn(await person('zoe', { groups: ['all'] }), 'zoe');
    expect((await oidc.context(browser)).body.role).toBe('read-only');
    expect(await membersNamed('zoe of the team')).toMatchObject([{ role: 'admin' }]);
    await set('active');
    await oidc.signIn(await person('zoe', { groups: ['all'] }), 'zoe');
    expect(await membersNamed('zoe of the team')).toMatchObject([{ role: 'read-only' }]);
  });

  it('does not admit whom an administrator has suspended or disabled', async () => {
    await oidc.signIn(await person('emil'), 'emil');
    const [{ id, userId }] = await membersNamed('emil of the team');
    const suspended = await oidc.board.call('PATCH', `/api/identity/workspaces/local/members/${id}`, {
      body: { status: 'suspended' },
    });
    expect(suspended.status).toBe(200);
    const page = await oidc.signIn(await person('emil'), 'emil');
    expect([page.status, codeOf(page.text)]).toEqual([403, 'MEMBERSHIP_SUSPENDED']);
    await oidc.board.call('PATCH', `/api/identity/users/${userId}`, { body: { status: 'disabled' } });
    const disabled = await oidc.signIn(await person('emil'), 'emil');
    expect([disabled.status, codeOf(disabled.text)]).toEqual([403, 'USER_DISABLED']);
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/%0a',
    'javascript:alert(1)',
    '/a\tb',
    'health',
  ])('leads to no other site: %j', async (returnTo) => {
    const response = await fetch(url(`/api/auth/oidc/login?returnTo=${encodeURIComponent(returnTo)}`), {
      redirect: 'manual',
    });
    const isPath = returnTo === '/%0a';
    expect([returnTo, response.status]).toEqual([returnTo, isPath ? 302 : 400]);
    await response.text();
  });

  describe('a callback', () => {
    /** Signs in up to the callback, which is not opened. */
    async function callbackOf(login: string): Promise<{ browser: Browser; callback: URL }> {
      await person(login);
      const browser = new Browser(callbackPath);
      const asked = await browser.open(url('/api/auth/oidc/login?returnTo=/health'));
      const { url: callback } = await atProvider(browser, asked, { login, providerUrl: oidc.provider.issuer });
      expect(callback.pathname).toBe(callbackPath);
      return { browser, callback };
    }
    const arrive = (browser: Browser, callback: URL) => browser.openFrom(oidc.provider.issuer, callback);

    it('counts once: a replay is refused, and ends nothing', async () => {
      const { browser, callback } = await callbackOf('finn');
      const cookie = browser.cookie(oidc.publicUrl, 'board_oidc_login') ?? '';
      const first = await arrive(browser, callback);
      expect(first.status).toBe(200);
      browser.setCookie(oidc.publicUrl, 'board_oidc_login', cookie);
      const replay = await arrive(browser, callback);
      expect([replay.status, codeOf(replay.text)]).toEqual([400, 'OIDC_LOGIN_NOT_PENDING']);
      expect((await oidc.context(browser)).status).toBe(200);
    });

    it('counts once when it arrives twice at the same moment', async () => {
      const { browser, callback } = await callbackOf('fay');
      const pages = await Promise.all([arrive(browser, callback), arrive(browser, callback)]);
      expect(pages.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it('is refused in another browser, so that a link signs no one in as another', async () => {
      const { callback } = await callbackOf('gina');
      const victim = new Browser();
      const page = await arrive(victim, callback);
      expect([page.status, codeOf(page.text)]).toEqual([400, 'OIDC_LOGIN_NOT_PENDING']);
      expect((await oidc.context(victim)).status).toBe(401);
    });

    it('is refused in a browser that has begun another sign-in', async () => {
      const { callback } = await callbackOf('hugo');
      const { browser: victim } = await callbackOf('ida');
      const page = await arrive(victim, callback);
      expect([page.status, codeOf(page.text)]).toEqual([400, 'OIDC_LOGIN_NOT_PENDING']);
    });

    it.each<[string, number, string, (callback: URL) => void]>([
      ['another state', 400, 'OIDC_LOGIN_NOT_PENDING', ({ searchParams }) => searchParams.set('state', 'a'.repeat(43))],
      ['two states', 400, 'VALIDATION_ERROR', ({ searchParams }) => searchParams.append('state', 'a'.repeat(43))],
      ['another issuer', 401, 'OIDC_UNPROVEN', ({ searchParams }) => searchParams.set('iss', 'https://other.example')],
      ['no issuer', 401, 'OIDC_UNPROVEN', ({ searchParams }) => searchParams.delete('iss')],
      ['another code', 401, 'OIDC_UNPROVEN', ({ searchParams }) => searchParams.set('code', 'a'.repeat(43))],
    ])('is refused with %s', async (_case, status, code, change) => {
      const { browser, callback } = await callbackOf('jan');
      change(callback);
      const page = await arrive(browser, callback);
      expect([page.status, codeOf(page.text)]).toEqual([status, code]);
      expect((await oidc.context(browser)).status).toBe(401);
    });

    it('is refused with the code of another client', async () => {
      const { browser, callback } = await callbackOf('kim');
      const other = new Browser(callbackPath);
      const authorize = new URL(`${oidc.provider.issuer}/auth`);
      authorize.search = new URLSearchParams({
        client_id: 'another',
        redirect_uri: url(callbackPath),
        response_type: 'code',
        scope: 'openid',
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      }).toString();
      const page = await atProvider(other, await other.open(authorize), {
        login: 'kim',
        providerUrl: oidc.provider.issuer,
      });
      callback.searchParams.set('code', page.url.searchParams.get('code') ?? '');
      const refused = await arrive(browser, callback);
      expect([refused.status, codeOf(refused.text)]).toEqual([401, 'OIDC_UNPROVEN']);
    });

    it.each(['', 'a', 'e30.e30.e30.e30.e30', 'eyJhbGciOiJub25lIn0..a.b.c'])(
      'is refused with a forged cookie: %j',
      async (cookie) => {
        const { browser, callback } = await callbackOf('leo');
        browser.setCookie(oidc.publicUrl, 'board_oidc_login', cookie);
        const page = await arrive(browser, callback);
        expect([page.status, codeOf(page.text)]).toEqual([400, 'OIDC_LOGIN_NOT_PENDING']);
      },
    );

    it('that the person has refused leads to a refusal', async () => {
      const browser = await person('mona');
      const asked = await browser.open(url('/api/auth/oidc/login'));
      const abort = /href="([^"]+\/abort)"/.exec(asked.text)?.[1] ?? '';
      const page = await browser.follow(asked, abort);
      expect([page.status, codeOf(page.text)]).toEqual([403, 'OIDC_DENIED']);
    });
  });

  it('ends with the session at the provider: asked for here, or reported from there', async () => {
    const browser = await person('nora');
    await oidc.signIn(browser, 'nora');
    const elsewhere = await person('nora');
    await oidc.signIn(elsewhere, 'nora');
    const response = await browser.call(url('/api/auth/oidc/logout'), { method: 'POST' });
    const { endSessionUrl } = (await response.json()) as { endSessionUrl: string };
    expect((await oidc.context(browser)).status).toBe(401);
    expect((await oidc.context(elsewhere)).status).toBe(200);
    const asked = await browser.open(endSessionUrl);
    const page = await browser.submit(asked, { logout: 'yes' });
    expect(page.url.href).toBe(url('/'));
    await eventually(async () => expect((await oidc.context(elsewhere)).status).toBe(401));
  });

  it('writes who has signed in, and who became what, to the audit log', async () => {
    await oidc.signIn(await person('olaf'), 'olaf');
    const [{ userId }] = await membersNamed('olaf of the team');
    const { body } = await oidc.board.call('GET', `/api/audit?actor=user:${userId}`);
    expect(body.entries).toMatchObject([{ action: 'auth.login', details: { method: 'oidc' } }]);
    const { body: joined } = await oidc.board.call('GET', '/api/audit?action=membership.add&limit=1');
    expect(joined.entries).toMatchObject([{ actor: 'service:oidc', details: { userId, to: { role: 'agent' } } }]);
  });
});

describe('sign-in with other settings', () => {
  it('admits verified addresses of the allowed domains, with the default role', async () => {
    const oidc = await startOidc({
      BOARD_OIDC_ROLE_GROUPS: '',
      BOARD_OIDC_DEFAULT_ROLE: 'read-only',
      BOARD_OIDC_ALLOWED_DOMAINS: 'corp.example',
    });
    const signIn = async (email: string, email_verified: boolean) => {
      await oidc.provider.setClaims(email, { email, email_verified });
      const browser = new Browser();
      const { status } = await oidc.signIn(browser, email);
      return [status, (await oidc.context(browser)).body.role];
    };
    expect(await signIn('ann@corp.example', true)).toEqual([200, 'read-only']);
    expect(await signIn('ben@corp.example', false)).toEqual([403, undefined]);
    expect(await signIn('carl@corp.example.evil.example', true)).toEqual([403, undefined]);
    await oidc.close();
  });

  it('is 404 without a provider', async () => {
    const board = await startTestApi();
    const calls = [
      ['GET', 'login'],
      ['GET', 'callback'],
      ['GET', 'signed-out'],
      ['POST', 'logout'],
      ['POST', 'backchannel-logout'],
    ] as const;
    for (const [method, path] of calls) {
      const { status, body } = await board.call(method, `/api/auth/oidc/${path}`, { key: null });
      expect([path, status, body.code]).toEqual([path, 404, 'OIDC_NOT_CONFIGURED']);
    }
    await board.close();
  });

  it('is 503 while the provider cannot be reached, and callbacks without a sign-in are limited', async () => {
    const board = await startTestApi({
      BOARD_PUBLIC_URL: 'https://board.example',
      BOARD_OIDC_ISSUER: 'http://127.0.0.1:1',
      BOARD_OIDC_CLIENT_ID: 'board',
      BOARD_OIDC_DEFAULT_ROLE: 'read-only',
      RATE_LIMIT_AUTH_FAILURES: '30',
    });
    const { status, body, headers } = await board.call('GET', '/api/auth/oidc/login', { key: null });
    expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'OIDC_PROVIDER_UNAVAILABLE', '5']);
    const callbacks = await Promise.all(
      Array.from({ length: 31 }, () => board.call('GET', '/api/auth/oidc/callback?state=a&code=b', { key: null })),
    );
    expect(callbacks.map(({ status }) => status).sort()).toEqual([...Array<number>(30).fill(400), 429]);
    const report = await board.call('POST', '/api/auth/oidc/backchannel-logout', { key: null });
    expect(report.status).toBe(503);
    await board.close();
  });
});
