import { conversationOf } from './history';
import type { Exchange } from './session';

const exchange = (number: number, content: string, answer?: string): Exchange => ({
  _id: String(number),
  session: 's',
  number,
  content,
  created_at: '2026-01-01T00:00:00.000Z',
  state: answer === undefined ? 'superseded' : 'answered',
  ...(answer === undefined ? {} : { answer: { content: answer, created_at: '2026-01-01T00:00:01.000Z' } }),
});
const transcript = (exchanges: Exchange[], contextWindow: number): string =>
  conversationOf(exchanges, contextWindow)
    .flatMap(({ role, content }) => content.map((part) => `${role[0] ?? ''}:${JSON.stringify(part.data)}`))
    .join(' ');

describe('session history', () => {
  it('is sent in order, a message without an answer too', () => {
    expect(transcript([exchange(1, 'a', 'b'), exchange(2, 'c'), exchange(3, 'd')], 100)).toBe(
      'u:"a" a:"b" u:"c" u:"d"',
    );
  });

  it('loses its beginning where it does not fit, whole exchanges at a time', () => {
    const exchanges = [exchange(1, 'aaa', 'bbb'), exchange(2, 'ccc', 'ddd'), exchange(3, 'eee')];
    expect(transcript(exchanges, 4)).toBe('u:"ccc" a:"ddd" u:"eee"');
    expect(transcript(exchanges, 3)).toBe('u:"ccc" a:"ddd" u:"eee"');
    expect(transcript(exchanges, 2)).toBe('u:"eee"');
  });

  it('holds the message that is to be answered in any case', () => {
    expect(transcript([exchange(1, 'a', 'b'), exchange(2, 'too long')], 1)).toBe('u:"too long"');
  });
});
