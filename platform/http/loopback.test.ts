import { isAllowedOrigin, isLocalRequest, isLoopbackAddress } from './loopback';

describe('a request of this machine', () => {
  const host = '127.0.0.1:3001';

  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('has a loopback address: %s', (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
    expect(isLocalRequest({ host }, address)).toBe(true);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '127.0.0.1.evil.example', undefined])(
    'does not come from %s',
    (address) => expect(isLocalRequest({ host }, address)).toBe(false),
  );

  it.each([
    ['was forwarded by a proxy', { host, 'x-forwarded-for': '203.0.113.9' }],
    ['was forwarded by a proxy that speaks RFC 7239', { host, forwarded: 'for=203.0.113.9' }],
    ['reached us by a rebound name', { host: 'evil.example:3001' }],
    ['was made by a page of somewhere else', { host, origin: 'https://evil.example' }],
    ['was made by a page without an origin', { host, origin: 'null' }],
    ['has no host', {}],
  ])('is none when it %s', (_case, headers) => expect(isLocalRequest(headers, '127.0.0.1')).toBe(false));
});

describe('the origin of a page', () => {
  const rules = { allowedOrigins: ['https://ui.example'], allowLocalOrigins: true };

  it('is allowed when it is listed, and when it is this machine where that is allowed', () => {
    expect(isAllowedOrigin('https://ui.example', rules)).toBe(true);
    expect(isAllowedOrigin('http://localhost:5173', rules)).toBe(true);
    expect(isAllowedOrigin('http://localhost:5173', { ...rules, allowLocalOrigins: false })).toBe(false);
  });

  it.each([
    'https://evil.example',
    'https://ui.example.evil.example',
    'http://ui.example',
    'http://localhost.evil.example',
    'null',
    '',
    'not a url',
  ])('%j is not', (origin) => expect(isAllowedOrigin(origin, rules)).toBe(false));
});
