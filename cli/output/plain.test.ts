import { oneLine, plain } from './plain';

describe('text of others in a terminal', () => {
  it('obeys no control characters, but line breaks and tabs', () => {
    expect(plain('a\u001b[2Jb\u009b1mc\u0007\r\nd\te')).toBe('a\uFFFD[2Jb\uFFFD1mc\uFFFD\nd\te');
    expect(plain('safe\u202egnp.exe\u2066')).toBe('safe\uFFFDgnp.exe\uFFFD');
  });

  it('is cut to whole characters on one line', () => {
    expect(oneLine('  two\n lines ', 20)).toBe('two lines');
    expect(oneLine('😀😀😀😀', 3)).toBe('😀😀…');
  });
});
