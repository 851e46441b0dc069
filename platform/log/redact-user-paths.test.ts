import fc from 'fast-check';
import { redactUserPaths } from './redact-user-paths';

describe('redact user paths', () => {
  it.each([
    ['see /home/ada/shop/a.ts:1', 'see /home/[REDACTED]/shop/a.ts:1'],
    ['/Users/ada.l', '/Users/[REDACTED]'],
    ['"C:\\Users\\ada\\shop"', '"C:\\Users\\[REDACTED]\\shop"'],
    ['"C:\\\\Users\\\\ada"', '"C:\\\\Users\\\\[REDACTED]"'],
    ['/home/a /home/b', '/home/[REDACTED] /home/[REDACTED]'],
  ])('hides the name in %s', (text, expected) => {
    expect(redactUserPaths(text)).toBe(expected);
  });

  it.each(['/usr/lib/node', '/homework/ada', 'at home/', '/home/', 'GET /api/users/7'])('leaves %s alone', (text) => {
    expect(redactUserPaths(text)).toBe(text);
  });

  it('finds nothing more in what it has redacted, and comes to an end', () => {
    const part = fc.constantFrom('/home/', '/Users/', 'C:\\Users\\', 'ada', '/', ' ', '[REDACTED]', '\\', ':');
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const once = redactUserPaths(parts.join(''));
        expect(redactUserPaths(once)).toBe(once);
      }),
    );
    expect(redactUserPaths('/home/'.repeat(50_000))).toEqual(expect.any(String));
  });
});
