import { tokensOf } from '../../../../platform/models/tokens';
import { withGuidance } from './guidance';

const guided = (texts: string[], room: number, prompt = 'Write.'): string =>
  withGuidance(
    prompt,
    texts.map((text) => ({ text })),
    room,
  );
const heading = 'Write.\n\nGuidance given since the run began:\n';
const leftOut = '- (Earlier guidance is left out: the model has no more room.)';

describe('guidance of a prompt', () => {
  it('is all there where the model has room, in order', () => {
    expect(guided([], 1_000)).toBe('Write.');
    expect(guided(['one', 'two'], 1_000)).toBe(`${heading}- one\n- two`);
    const places = [
      { text: 'a', file: 'x.ts', line: 3 },
      { text: 'b', file: 'y.ts' },
    ];
    expect(withGuidance('Write.', places, 1_000)).toBe(`${heading}- a (x.ts:3)\n- b (y.ts)`);
  });

  it('is the latest where it does not fit, and names what is left out', () => {
    const texts = Array.from({ length: 20 }, (_, at) => `${at} ${'x'.repeat(100)}`);
    const prompt = guided(texts, 200);
    expect(prompt.startsWith(`${heading}${leftOut}\n- 1`)).toBe(true);
    expect(prompt.endsWith(texts[19]!)).toBe(true);
    expect(tokensOf(prompt)).toBeLessThanOrEqual(200);
  });

  it('is cut where the latest alone is too long', () => {
    for (const text of ['x'.repeat(10_000), '長'.repeat(10_000)]) {
      const prompt = guided(['first', text], 500);
      expect(prompt).toContain(`${leftOut}\n- ${text.slice(0, 20)}`);
      expect(prompt.endsWith('…')).toBe(true);
      expect(tokensOf(prompt)).toBeLessThanOrEqual(500);
      expect(tokensOf(prompt)).toBeGreaterThan(350);
    }
  });

  it('leaves a prompt alone that fills the model by itself', () => {
    const prompt = 'y'.repeat(3_000);
    for (const room of [0, 500, 1_000, 1_010]) {
      expect(guided(['one'], room, prompt)).toBe(prompt);
    }
  });
});
