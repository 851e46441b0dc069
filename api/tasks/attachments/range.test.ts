import fc from 'fast-check';
import { requestedRange } from './range';

describe('byte range', () => {
  it.each([
    ['bytes=0-0', { offset: 0, length: 1 }],
    ['bytes=2-', { offset: 2, length: 8 }],
    ['bytes=2-100', { offset: 2, length: 8 }],
    ['bytes=-3', { offset: 7, length: 3 }],
    ['bytes=-100', { offset: 0, length: 10 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=3-2', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=-', undefined],
    ['lines=0-1', undefined],
    [undefined, undefined],
  ])('%s of ten bytes is %j', (header, range) => {
    expect(requestedRange(header, 10)).toEqual(range);
  });

  it('of an empty content there is none', () => {
    expect(requestedRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(requestedRange('bytes=-1', 0)).toBe('unsatisfiable');
  });

  it('lies within the content, whatever is asked for', () => {
    const header = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => `bytes=${from}-${to}`),
    );
    fc.assert(
      fc.property(header, fc.nat(1_000), (asked, size) => {
        const range = requestedRange(asked, size);
        if (range === undefined || range === 'unsatisfiable') {
          return;
        }
        expect(range.length).toBeGreaterThan(0);
        expect(range.offset + range.length).toBeLessThanOrEqual(size);
      }),
    );
  });
});
