import { randomBytes } from 'node:crypto';
import { EncryptJWT, SignJWT } from 'jose';
import { createLoginCookies, loginLastsMs } from './login-cookie';

const login = { state: 'state', nonce: 'nonce', verifier: 'verifier', returnTo: '/tasks' };
const aSecret = (kid: string) => ({ kid, secret: randomBytes(32).toString('base64url'), createdAt: '2026-01-01' });
const former = { ...aSecret('former'), validUntil: '2099-01-01' };
const current = aSecret('current');

describe('the cookie of a sign-in that was begun', () => {
  const at = new Date('2026-11-24T00:00:00.000Z');
  const cookiesAt = (now: Date, secrets = { current, former: [former], rotatedAt: undefined }) =>
    createLoginCookies({ secrets: { read: async () => secrets }, secure: true, now: () => now });
  const valueOf = (header: string): string => header.split(';')[0] ?? '';
  const begun = async () => valueOf(await cookiesAt(at).header(login));

  it('is read by the service that made it, within ten minutes', async () => {
    const cookie = await begun();
    const inTime = new Date(at.getTime() + loginLastsMs - 1_000);
    expect(await cookiesAt(inTime).read({ cookie: `a=b; ${cookie}` })).toEqual({ ...login, id: expect.any(String) });
    const late = new Date(at.getTime() + loginLastsMs + 1_000);
    expect(await cookiesAt(late).read({ cookie })).toBeUndefined();
  });

  it('shows nothing of what is in it, and is another one each time', async () => {
    const [one, other] = [await begun(), await begun()];
    expect(one).not.toBe(other);
    expect(Buffer.from(one, 'base64url').toString()).not.toMatch(/verifier|nonce|tasks/);
  });

  it('is for this host alone, over TLS alone, and for no script', async () => {
    expect(await cookiesAt(at).header(login)).toMatch(
      /^__Host-board_oidc_login=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  it('has its plain name where there is no TLS', async () => {
    const plain = createLoginCookies({
      secrets: { read: async () => ({ current, former: [], rotatedAt: undefined }) },
      secure: false,
      now: () => at,
    });
    const header = await plain.header(login);
    expect(header).toMatch(/^board_oidc_login=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await plain.read({ cookie: valueOf(header) })).toMatchObject(login);
    expect(await plain.read({})).toBeUndefined();
  });

  it('is read after the secret was rotated, and not after the secret is gone', async () => {
    const cookie = await begun();
    const rotated = {
      current: aSecret('next'),
      former: [{ ...current, validUntil: '2099-01-01' }],
      rotatedAt: undefined,
    };
    expect(await cookiesAt(at, rotated).read({ cookie })).toMatchObject(login);
    const gone = { current: aSecret('next'), former: [], rotatedAt: undefined };
    expect(await cookiesAt(at, gone).read({ cookie })).toBeUndefined();
  });

  it('is not one that was changed, or made elsewhere or for something else', async () => {
    const cookie = await begun();
    const changed = cookie.slice(0, -2) + (cookie.endsWith('AA') ? 'BB' : 'AA');
    const name = cookie.slice(0, cookie.indexOf('=') + 1);
    const session = await new SignJWT({ ...login })
      .setProtectedHeader({ alg: 'HS256', kid: current.kid })
      .setAudience('runboard-oidc-login')
      .setJti('a')
      .setExpirationTime('1h')
      .sign(Buffer.from(current.secret, 'base64url'));
    const ofSecret = await new EncryptJWT({ ...login })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: current.kid })
      .setAudience('runboard-oidc-login')
      .setJti('a')
      .setExpirationTime('1h')
      .encrypt(Buffer.from(current.secret, 'base64url'));
    for (const value of [changed, `${name}${session}`, `${name}${ofSecret}`, `${name}x`, name]) {
      expect(await cookiesAt(at).read({ cookie: value })).toBeUndefined();
    }
  });
});
