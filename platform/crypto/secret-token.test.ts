import { createRedactor } from '../log/redact';
import {
  exchangedToken,
  isSecretOf,
  newSecretToken,
  parseSecretToken,
  secretHash,
  secretTokenText,
} from './secret-token';

describe('secret tokens', () => {
  const token = newSecretToken();

  it.each(['rbk', 'rbd', 'rbp', 'rbi'] as const)(
    'of the kind %s are read as they were written, and redacted',
    (kind) => {
      const text = secretTokenText(kind, token);
      expect(parseSecretToken(kind, text)).toEqual(token);
      expect(createRedactor()(`with ${text} in it`)).toBe('with [REDACTED] in it');
    },
  );

  it.each([
    ['another kind', secretTokenText('rbd', token)],
    ['more text', `${secretTokenText('rbk', token)}x`],
    ['a line end', `${secretTokenText('rbk', token)}\n`],
    ['less text', secretTokenText('rbk', token).slice(0, -1)],
    ['another id', secretTokenText('rbk', { ...token, id: 'x'.repeat(24) })],
    ['nothing', ''],
  ])('are refused with %s', (_case, text) => {
    expect(parseSecretToken('rbk', text)).toBeUndefined();
  });

  it('are compared by the hash of their secret', () => {
    expect(isSecretOf(secretHash(token.secret), token.secret)).toBe(true);
    expect(isSecretOf(secretHash(token.secret), newSecretToken().secret)).toBe(false);
    expect(isSecretOf('', token.secret)).toBe(false);
  });

  it('are the same for the same exchange only', () => {
    const first = exchangedToken(token.secret, 'a');
    expect(parseSecretToken('rbd', secretTokenText('rbd', first))).toEqual(first);
    expect(exchangedToken(token.secret, 'a')).toEqual(first);
    for (const other of [exchangedToken(token.secret, 'b'), exchangedToken(newSecretToken().secret, 'a')]) {
      expect([other.id === first.id, other.secret === first.secret]).toEqual([false, false]);
    }
  });
});
