import { setImmediate as nextTurn } from 'node:timers/promises';
import { countLines, readEntries } from './log-entries';

const line = (sequence: number, level = 'info') => ({
  sequence,
  line: JSON.stringify({ level, time: '2026-01-01T00:00:00Z', msg: `m${sequence}` }),
});
const lines = Array.from({ length: 40 }, (_, index) => line(index + 1, index % 2 === 0 ? 'info' : 'warn'));

describe('entries of the log', () => {
  it('are cleaned no further than the last that is asked for, and only those of the level', async () => {
    const cleaned: string[] = [];
    const clean = (text: string) => {
      cleaned.push(text);
      return text;
    };
    const entries = await readEntries(lines, { clean, limit: 3, filter: { level: 'warn' } });
    expect(entries.map(({ message }) => message)).toEqual(['m2', 'm4', 'm6']);
    expect(cleaned).toEqual(['m2', 'm4', 'm6']);
  });

  it('leave time to others, and are read by one caller at a time', async () => {
    let [reading, turns, cleaned] = [true, 0, 0];
    const clean = (text: string) => {
      for (const until = performance.now() + 6; performance.now() < until;) {
        // Busy, as with a long line.
      }
      cleaned += 1;
      return text;
    };
    const counting = (async () => {
      while (reading) {
        await nextTurn();
        turns += 1;
      }
    })();
    const ten = lines.slice(0, 10);
    const first = readEntries(ten, { clean, limit: 100 });
    await readEntries(ten.slice(0, 1), {
      clean: (text) => {
        expect(cleaned).toBe(10);
        return text;
      },
      limit: 100,
    });
    await first;
    reading = false;
    await counting;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('are counted by level', () => {
    expect(countLines([...lines, { sequence: 41, line: 'no json' }, line(42, 'fatal')])).toEqual({
      lines: 42,
      warnings: 20,
      errors: 1,
    });
  });
});
