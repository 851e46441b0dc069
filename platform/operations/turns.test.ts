import { createTurns } from './turns';

/** Work that ends when it is let go. */
function work() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end };
}

describe('turns', () => {
  it('run so many at once, the others in the order in which they came, and refuse more than may wait', async () => {
    const turns = createTurns({ running: 1, waiting: 2, what: 'things to do' });
    const first = work();
    const done: string[] = [];
    const runs = [
      turns.take(() => first.ended.then(() => done.push('first'))),
      turns.take(async () => done.push('second')),
      turns.take(async () => done.push('third')),
    ];
    await expect(turns.take(async () => done.push('fourth'))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      details: { retryAfterSeconds: 1 },
    });
    expect(done).toEqual([]);
    first.end();
    await Promise.all(runs);
    expect(done).toEqual(['first', 'second', 'third']);
  });

  it('are given back by work that fails', async () => {
    const turns = createTurns({ running: 1, waiting: 0, what: 'things to do' });
    await expect(turns.take(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(turns.take(async () => 'next')).resolves.toBe('next');
  });
});
