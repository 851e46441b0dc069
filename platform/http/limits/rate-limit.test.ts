import { createFixedWindow } from './fixed-window';
import { addressKey } from './rate-limit';

describe('a fixed window', () => {
  it('lets through the limit, then nothing until the window ends', () => {
    let now = 0;
    const window = createFixedWindow({ limit: 2, windowMs: 1000, maxKeys: 10, now: () => now });
    expect(window.hit('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetAtMs: 1000 });
    expect(window.hit('a')).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.hit('a')).toMatchObject({ allowed: false, remaining: 0 });
    expect(window.hit('b')).toMatchObject({ allowed: true });
    now = 1000;
    expect(window.hit('a')).toMatchObject({ allowed: true, resetAtMs: 2000 });
  });

  it('remembers a bounded number of callers', () => {
    const window = createFixedWindow({ limit: 1, windowMs: 1000, maxKeys: 100, now: () => 0 });
    for (let caller = 0; caller < 1000; caller += 1) {
      window.hit(String(caller));
    }
    expect(window.hit('999').allowed).toBe(false);
    expect(window.hit('0').allowed).toBe(true);
  });
});

describe('the key of a caller', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::7', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, key) => expect(addressKey(address)).toBe(key));
});
