import { generateKeyPairSync } from 'node:crypto';
import { startServiceUnderTest, tokenOf, type WorkflowRunsUnderTest } from './service-under-test';

let service: WorkflowRunsUnderTest;
describe('workflow-run discovery API', () => {
  beforeAll(async () => {
    service = await startServiceUnderTest();
  });
  afterAll(() => service.close());

  const now = Math.floor(Date.now() / 1000);
  const otherKey = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
  const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${tokenOf('ann').split('.')[1]}.`;

  it('lists the services without a token', async () => {
    expect((await service.call('GET', '/', undefined, null)).body).toEqual({
      urls: { openapi_url: '/openapi.json', current_user_url: '/user', health_url: '/health' },
    });
    expect((await service.call('GET', '/health', undefined, null)).body).toEqual({ status: 'ok' });
    expect((await service.call('GET', '/openapi.json', undefined, null)).body).toMatchObject({ openapi: '3.1.0' });
  });

  it('takes a caller for the user the token speaks for', async () => {
    expect(await service.call('GET', '/user')).toMatchObject({ status: 200, body: { login: 'ann' } });
  });

  it.each([
    ['no token', null],
    ['a token that is none', 'nonsense'],
    ['one that has expired', tokenOf('ann', { exp: now - 10 })],
    ['one of another issuer', tokenOf('ann', { iss: 'https://other.example' })],
    ['one signed with another key', tokenOf('ann', {}, otherKey)],
    ['one that is not signed', unsigned],
    ['one without an issuer', tokenOf('ann', { iss: undefined })],
    ['one that never expires', tokenOf('ann', { exp: undefined })],
    ['one that is issued in the future', tokenOf('ann', { iat: now + 300 })],
    ['one whose subject is no URL', tokenOf('ann', { sub: 'ann' })],
  ])('refuses %s', async (_case, token) => {
    const { status, body } = await service.call('GET', '/user', undefined, token);
    expect({ status, body }).toEqual({
      status: 401,
      body: { errors: [{ status: '401', title: 'Unauthorized', detail: 'Authentication required.' }] },
    });
  });

  it('takes tokens of an issuer whose clock is some seconds ahead', async () => {
    const token = tokenOf('ann', { iat: now + 10 });
    expect((await service.call('GET', '/user', undefined, token)).status).toBe(200);
  });

  it('refuses users who are not on the list', async () => {
    expect(await service.call('GET', '/user', undefined, tokenOf('eve'))).toMatchObject({
      status: 403,
      body: { errors: [{ status: '403', title: 'Forbidden', detail: 'Access denied.' }] },
    });
  });

  it('refuses bodies that are not UTF-8, or nested thousands deep', async () => {
    const post = (body: string | Buffer<ArrayBuffer>) =>
      fetch(`${service.service.url}/completions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tokenOf('ann')}`, 'Content-Type': 'application/json' },
        body,
      });
    expect((await post(Buffer.from('{"model":"caf\u00e9"}', 'latin1'))).status).toBe(400);
    const deep = await post(`{"model":"x","schema":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`);
    expect(deep.status).toBe(422);
    expect(await deep.text()).toContain('nested more than');
  });

  it('has its own error for an unknown path', async () => {
    expect(await service.call('GET', '/nowhere')).toMatchObject({
      status: 404,
      body: { errors: [{ status: '404', title: 'Not Found' }] },
    });
  });

  it('limits failed authentications by address, and no valid tokens', async () => {
    const limited = await startServiceUnderTest({ RATE_LIMIT_AUTH_FAILURES: '2' });
    try {
      for (const token of [null, 'nonsense']) {
        expect((await limited.call('GET', '/user', undefined, token)).status).toBe(401);
      }
      const refused = await fetch(`${limited.service.url}/user`);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ errors: [{ status: '429', title: 'Too Many Requests' }] });
      expect(refused.headers.get('X-RateLimit-Limit')).toBe('2');
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect((await limited.call('GET', '/user')).status).toBe(200);
      expect((await limited.call('GET', '/health', undefined, null)).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
