import fc from 'fast-check';
import { type Line, LineSplitter, longestLine } from './line-splitter';

const split = (chunks: Buffer[]): Line[] => {
  const splitter = new LineSplitter();
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()];
};
const texts = (lines: Line[]) => lines.map(({ content }) => content.toString());

describe('splitting lines', () => {
  it('does not depend on where the chunks end', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '🎈', '{', ' '), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(12)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const length of cuts) {
          chunks.push(bytes.subarray(at, (at += length)));
        }
        const found = split([...chunks, bytes.subarray(at)]);
        expect(texts(found)).toEqual(lines);
        expect(found.reduce((total, { bytes: length }) => total + length, 0)).toBe(bytes.length);
      }),
    );
  });

  it('takes other line ends, and a last line without one', () => {
    expect(texts(split([Buffer.from('a\r\nb\n\nlast')]))).toEqual(['a', 'b', '', 'last']);
  });

  it('keeps the beginning of long lines and counts the rest', () => {
    const long = Buffer.from(`${'x'.repeat(longestLine + 1_000)}\n`);
    const lines = split([long.subarray(0, 70_000), long.subarray(70_000), Buffer.from('after\n')]);
    expect(lines.map(({ content }) => content.length)).toEqual([longestLine, 5]);
    expect(lines.map(({ bytes }) => bytes)).toEqual([longestLine + 1_001, 6]);
  });
});
