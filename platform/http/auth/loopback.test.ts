import { isLoopbackAddress } from '../loopback-host';
import { isAllowedPage, isDirectRequest, isForwarded, isLocalRequest } from './loopback';

const here = { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', localPort: 3001 };
const host = '127.0.0.1:3001';

describe('a request of this machine', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('has a loopback address: %s', (remoteAddress) => {
    expect(isLoopbackAddress(remoteAddress)).toBe(true);
    expect(isLocalRequest({ host }, { ...here, remoteAddress })).toBe(true);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '127.0.0.1.evil.example', undefined])(
    'does not come from %s',
    (remoteAddress) => expect(isLocalRequest({ host }, { ...here, remoteAddress })).toBe(false),
  );

  it.each(['localhost:3001', 'LOCALHOST:3001', '[::1]:3001', '127.8.8.8:3001'])('may name this machine %s', (name) =>
    expect(isLocalRequest({ host: name }, here)).toBe(true),
  );

  it.each([
    ['was forwarded by a proxy', { host, 'x-forwarded-for': '203.0.113.9' }],
    ['was forwarded by a proxy that speaks RFC 7239', { host, forwarded: 'for=203.0.113.9' }],
    ['reached us by a rebound name', { host: 'evil.example:3001' }],
    ['names another port', { host: '127.0.0.1:3002' }],
    ['names no port', { host: 'localhost' }],
    ['was made by a page of somewhere else', { host, origin: 'https://evil.example' }],
    ['was made by a page without an origin', { host, origin: 'null' }],
    ['is a read of a page of another site', { host, 'sec-fetch-site': 'cross-site' }],
    ['is a read of a page of another site, from an older browser', { host, referer: 'https://evil.example/a' }],
    ['has no host', {}],
  ])('is none when it %s', (_case, headers) => expect(isLocalRequest(headers, here)).toBe(false));

  it.each(['none', 'same-origin', 'same-site'])('may be %s to the page that a browser sends it for', (site) =>
    expect(isLocalRequest({ host, 'sec-fetch-site': site }, here)).toBe(true),
  );
});

describe('a proxy', () => {
  it.each([
    'Forwarded',
    'Via',
    'X-Real-IP',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'CF-Connecting-IP',
    'CF-Ray',
    'True-Client-IP',
    'X-Client-IP',
    'Fly-Client-IP',
  ])('is known by %s', (name) => expect(isForwarded({ [name.toLowerCase()]: '' })).toBe(true));

  it('is not seen where none is', () =>
    expect(isForwarded({ host, accept: '*/*', 'x-api-key': 'a', 'x-request-id': 'b' })).toBe(false));
});

describe('a direct request', () => {
  const rules = { allowedOrigins: ['https://ui.example'], allowLocalOrigins: false };
  const there = { remoteAddress: '10.0.0.9', localAddress: '::ffff:10.0.0.1', localPort: 3001 };

  it.each([
    ['names the address that was called', { host: '10.0.0.1:3001' }, true],
    ['names another address', { host: '10.0.0.2:3001' }, false],
    ['names a name', { host: 'board.example:3001' }, false],
    ['was made by its own page', { host: '10.0.0.1:3001', origin: 'http://10.0.0.1:3001' }, true],
    ['was made by an allowed page', { host: '10.0.0.1:3001', origin: 'https://ui.example' }, true],
    ['was made by another page', { host: '10.0.0.1:3001', origin: 'https://evil.example' }, false],
    ['was forwarded', { host: '10.0.0.1:3001', via: '1.1 proxy' }, false],
  ])('that %s', (_case, headers, isDirect) => expect(isDirectRequest(headers, there, rules)).toBe(isDirect));
});

describe('a page', () => {
  const rules = { allowedOrigins: ['https://ui.example'], allowLocalOrigins: true };
  const production = { ...rules, allowLocalOrigins: false };

  it('is allowed when its origin is listed, and when it is of this machine where that is allowed', () => {
    expect(isAllowedPage({ host, origin: 'https://ui.example' }, rules)).toBe(true);
    expect(isAllowedPage({ host, origin: 'http://localhost:5173' }, rules)).toBe(true);
    expect(isAllowedPage({ host, origin: 'http://localhost:5173' }, production)).toBe(false);
  });

  it.each([
    'https://evil.example',
    'https://ui.example.evil.example',
    'http://ui.example',
    'http://localhost.evil.example',
    'null',
    '',
    'not a url',
  ])('of the origin %j is not', (origin) => expect(isAllowedPage({ host, origin }, rules)).toBe(false));

  it.each([
    ['127.0.0.1:3001', 'http://127.0.0.1:3001'],
    ['localhost:3001', 'http://localhost:3001'],
    ['LOCALHOST:3001', 'http://localhost:3001'],
    ['[::1]:3001', 'http://[::1]:3001'],
    ['10.0.0.1:3001', 'http://10.0.0.1:3001'],
    ['10.0.0.1', 'https://10.0.0.1'],
    ['10.0.0.1', 'http://10.0.0.1'],
    ['[2001:db8::1]:3001', 'http://[2001:db8::1]:3001'],
  ])('under the address that it calls (%s) is allowed', (called, origin) => {
    expect(isAllowedPage({ host: called, origin }, production)).toBe(true);
    expect(isAllowedPage({ host: called, origin, 'sec-fetch-site': 'same-origin' }, production)).toBe(true);
  });

  it.each([
    ['a name, which may be rebound', { host: 'evil.example:3001', origin: 'http://evil.example:3001' }],
    ['a name below localhost', { host: 'a.localhost:3001', origin: 'http://a.localhost:3001' }],
    ['a name that looks like an address', { host: '127.0.0.1.evil.example', origin: 'http://127.0.0.1.evil.example' }],
    ['another port', { host, origin: 'http://127.0.0.1:5173' }],
    ['no port', { host, origin: 'http://127.0.0.1' }],
    ['another address', { host, origin: 'http://10.0.0.1:3001' }],
    ['another loopback name', { host, origin: 'http://localhost:3001' }],
    ['another site', { host, origin: 'https://evil.example' }],
    ['another scheme', { host: '10.0.0.1', origin: 'http://10.0.0.1', 'sec-fetch-site': 'cross-site' }],
    ['another origin of its site', { host, origin: 'http://127.0.0.1:3001', 'sec-fetch-site': 'same-site' }],
    ['no origin', { host, origin: 'null' }],
    ['no web page', { host, origin: 'file://127.0.0.1:3001' }],
    ['an unknown host', { origin: 'http://127.0.0.1:3001' }],
    ['a host that cannot be read', { host: 'a b', origin: 'http://127.0.0.1:3001' }],
  ])('under %s is not, in production', (_case, headers) => expect(isAllowedPage(headers, production)).toBe(false));
});
