import fc from 'fast-check';
import { bytesFrom, type Extractor, type FoundLines, linesFrom, wholeUpTo } from './ranges';

/** Text with every line end, empty lines, and characters of one to four bytes. */
const aText = fc
  .array(fc.constantFrom('a', 'é', '€', '🎈', '\n', '\r\n', '\r', ' ', 'word', '\n\n'), { maxLength: 60 })
  .map((parts) => parts.join(''));
const cuts = fc.array(fc.nat(9), { maxLength: 30 });

/** Gives the bytes to the extractor in pieces of the given lengths. */
function extract<T>(extractor: Extractor<T>, bytes: Buffer, lengths: number[] = []): T {
  let at = 0;
  for (const length of lengths) {
    extractor.take(bytes.subarray(at, (at += length)));
  }
  extractor.take(bytes.subarray(at));
  return extractor.done();
}

const naiveLines = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') {
    lines.pop();
  }
  return lines;
};

describe('a byte range', () => {
  it('is the slice of the whole, with what is around it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), cuts, fc.nat(220), fc.nat(220), fc.nat(40), (content, ...rest) => {
        const [lengths, offset, length, margin] = rest;
        const bytes = Buffer.from(content);
        const found = extract(bytesFrom(offset, length, margin), bytes, lengths);
        expect(found.bytes.equals(bytes.subarray(offset, offset + length))).toBe(true);
        const from = Math.max(0, offset - margin);
        const around = Buffer.concat([found.before, found.bytes, found.after]);
        expect(around.equals(bytes.subarray(from, offset + length + margin))).toBe(true);
      }),
    );
  });
});

describe('a line range', () => {
  it('is the slice of all lines, whatever the pieces, line ends and characters are', () => {
    fc.assert(
      fc.property(aText, cuts, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), (text, ...rest) => {
        const [lengths, startLine, count] = rest;
        const lines = naiveLines(text);
        const found = extract(linesFrom(startLine, count, 100_000), Buffer.from(text), lengths);
        const next = Math.min(lines.length, startLine - 1 + count) + 1;
        expect(found).toEqual({
          lines: lines.slice(startLine - 1, startLine - 1 + count),
          totalLines: lines.length,
          truncated: false,
          nextLine: startLine <= lines.length && next <= lines.length ? next : null,
        });
      }),
    );
  });

  it('read one after the other is the whole text, however little an answer holds', () => {
    fc.assert(
      fc.property(aText, fc.integer({ min: 4, max: 20 }), (text, maxBytes) => {
        const bytes = Buffer.from(text);
        const read: string[] = [];
        let from: number | null = 1;
        while (from !== null) {
          const found: FoundLines = extract(linesFrom(from, 1_000, maxBytes), bytes);
          const { lines, truncated, nextLine } = found;
          expect(Buffer.byteLength(lines.join(''))).toBeLessThanOrEqual(maxBytes);
          const whole = naiveLines(text).slice(from - 1, from - 1 + lines.length);
          if (truncated) {
            expect(lines).toHaveLength(1);
            expect(whole[0]!.startsWith(lines[0]!)).toBe(true);
          } else {
            expect(lines).toEqual(whole);
          }
          read.push(...whole);
          from = nextLine;
        }
        expect(read).toEqual(naiveLines(text));
      }),
    );
  });

  it('cuts a line that is longer than an answer without keeping it', () => {
    const bytes = Buffer.from(`short\n${'é'.repeat(500_000)}\nlast`);
    expect(extract(linesFrom(1, 10, 1_000), bytes)).toMatchObject({ lines: ['short'], nextLine: 2, truncated: false });
    const { lines, truncated, nextLine } = extract(linesFrom(2, 10, 1_001), bytes, [7, 300_000]);
    expect({ lines, truncated, nextLine }).toEqual({ lines: ['é'.repeat(500)], truncated: true, nextLine: 3 });
  });
});

it('a whole is only kept up to a length', () => {
  expect(extract(wholeUpTo(3), Buffer.from('abc'), [1])?.toString()).toBe('abc');
  expect(extract(wholeUpTo(2), Buffer.from('abc'), [1, 1])).toBeUndefined();
});
