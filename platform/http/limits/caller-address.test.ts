import { callerAddressBehind, isAddressRange } from './caller-address';

const address = callerAddressBehind(['10.0.0.7', '10.1.0.0/16', '2001:db8::/32']);
const from = (remoteAddress: string | undefined, forwarded?: string) =>
  address({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress },
  });

describe('the address of a caller behind proxies', () => {
  it.each([
    ['of a connection from elsewhere, whatever it claims', '192.0.2.1', '198.51.100.9', '192.0.2.1'],
    ['of this machine, which is no trusted proxy by itself', '127.0.0.1', '198.51.100.9', '127.0.0.1'],
    ['that a trusted proxy names', '10.0.0.7', '198.51.100.9', '198.51.100.9'],
    ['on a socket for both versions', '::ffff:10.0.0.7', '198.51.100.9', '198.51.100.9'],
    ['that the last untrusted one added, not what came before it', '10.0.0.7', '1.1.1.1, 198.51.100.9', '198.51.100.9'],
    ['through a chain of trusted proxies', '10.0.0.7', '1.1.1.1, 198.51.100.9, 10.1.2.3, 2001:db8::5', '198.51.100.9'],
    ['with a port', '10.0.0.7', '198.51.100.9:4711', '198.51.100.9'],
    ['of version 6 with a port', '10.0.0.7', '[2001:4860::1]:4711', '2001:4860::1'],
    ['of the proxy when the header is absent', '10.0.0.7', undefined, '10.0.0.7'],
    ['of the proxy when the entry is no address', '10.0.0.7', '198.51.100.9, unknown', '10.0.0.7'],
    ['of the proxy when the entry is empty', '10.0.0.7', '198.51.100.9,', '10.0.0.7'],
    ['of the first proxy when all are trusted', '10.0.0.7', '10.1.0.1', '10.1.0.1'],
  ])('is that %s', (_name, remoteAddress, forwarded, expected) => {
    expect(from(remoteAddress, forwarded)).toBe(expected);
  });

  it('is not known of a connection that has ended', () => {
    expect(from(undefined, '198.51.100.9')).toBeUndefined();
  });

  it('is the address of the connection where no proxy is trusted', () => {
    const headers = { 'x-forwarded-for': '198.51.100.9' };
    expect(callerAddressBehind([])({ headers, socket: { remoteAddress: '10.0.0.7' } })).toBe('10.0.0.7');
  });

  it.each(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])('takes %s as a proxy', (range) => {
    expect(isAddressRange(range)).toBe(true);
  });

  it.each(['', 'localhost', '10.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/-1', '0/0'])(
    'takes %j for none',
    (range) => {
      expect(isAddressRange(range)).toBe(false);
    },
  );
});
