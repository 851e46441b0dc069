import fc from 'fast-check';
import { fingerprintOf, normalised } from './fingerprint';

describe('error fingerprint', () => {
  it.each([
    ['numbers', 'Timed out after 300 ms', 'Timed out after 1200 ms'],
    ['ids', 'No run 0123abcd4567', 'No run fedc9876ba10'],
    ['UUIDs', 'No 123e4567-e89b-12d3-a456-426614174000', 'No 00000000-0000-4000-8000-000000000000'],
    ['folders', "Cannot find '/home/ada/shop/main.ts'", "Cannot find '/srv/build/7/main.ts'"],
    ['folders of Windows', 'No C:\\Users\\ada\\main.ts', 'No D:\\main.ts'],
    ['case and spacing', 'Out  of Memory\n', 'out of memory'],
  ])('treats %s as the same', (_what, one, other) => {
    expect(fingerprintOf('runtime', one)).toBe(fingerprintOf('runtime', other));
  });

  it.each([
    ['Cannot find module a', 'Cannot find module b'],
    ["No '/x/main.ts'", "No '/x/other.ts'"],
    ['connection refused', 'connection reset'],
  ])('reports %s from %s', (one, other) => {
    expect(fingerprintOf('runtime', one)).not.toBe(fingerprintOf('runtime', other));
  });

  it('distinguishes the same message of two types', () => {
    expect(fingerprintOf('api', 'failed')).not.toBe(fingerprintOf('git', 'failed'));
  });

  it('comes to an end on hostile text', () => {
    for (const unit of ['/', '/a', 'a1b2c3d-', 'f', ' ', '\\', '-']) {
      expect(normalised(unit.repeat(50_000))).toEqual(expect.any(String));
    }
  });

  it('is the same whatever number is in the message', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), (text, one, other) => {
        expect(fingerprintOf('api', `${text} ${one}`)).toBe(fingerprintOf('api', `${text} ${other}`));
      }),
    );
  });
});
