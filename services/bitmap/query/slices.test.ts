import type { Steps } from '../steps';
import { courseOf, Slices, TooManyQueriesError } from './slices';

/** Takes so many steps that are each longer than a slice, and notes each. */
function* long(name: string, steps: number, taken: string[] = []): Steps<string> {
  for (let step = 0; step < steps; step += 1) {
    const end = performance.now() + 25;
    while (performance.now() < end) {}
    taken.push(name);
    yield;
  }
  return name;
}
const forever = (): { mayPause: boolean; until: number; withinMs: number } => courseOf(60_000, true);

describe('slices of queries', () => {
  it('end a short one at once', () => {
    expect(new Slices().run(long('a', 0), forever())).toBe('a');
  });

  it('let long ones take turns, and others in between', async () => {
    const taken: string[] = [];
    const slices = new Slices();
    const results = ['a', 'b'].map(async (name) => slices.run(long(name, 3, taken), forever()));
    setImmediate(() => taken.push('another'));
    expect(await Promise.all(results)).toEqual(['a', 'b']);
    expect(taken.filter((name) => name !== 'another')).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
    expect(taken.indexOf('another')).toBeLessThan(taken.length - 1);
  });

  it('do not interrupt one that may not pause', () => {
    const taken: string[] = [];
    const slices = new Slices();
    expect(slices.run(long('a', 3, taken), { ...forever(), mayPause: false })).toBe('a');
  });

  it('give up what takes too long, and report what fails later', async () => {
    const slices = new Slices();
    let isAbandoned = false;
    function* late(): Steps<string> {
      try {
        return yield* long('late', 100);
      } finally {
        isAbandoned = true;
      }
    }
    // On a busy machine its first slice takes as long, and it is given up before there is a promise.
    const run = async () => slices.run(late(), courseOf(60, true));
    await expect(run()).rejects.toThrow('took longer than 60 ms');
    expect(isAbandoned).toBe(true);
    function* failing(): Steps<string> {
      yield* long('failing', 2);
      throw new Error('It failed.');
    }
    await expect(slices.run(failing(), forever())).rejects.toThrow('It failed.');
  });

  it('refuse long ones when as many are under way as may be', async () => {
    const slices = new Slices(1);
    const first = slices.run(long('a', 2), forever());
    expect(() => slices.run(long('b', 2), forever())).toThrow(TooManyQueriesError);
    expect(slices.run(long('c', 0), forever())).toBe('c');
    expect(await first).toBe('a');
    expect(await slices.run(long('d', 2), forever())).toBe('d');
  });
});
