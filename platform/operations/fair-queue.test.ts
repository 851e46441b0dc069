import { createFairQueue } from './fair-queue';

const refusal = { code: 'TOO_MANY', message: 'Send it again later.' };
const aQueue = (concurrency: number) => createFairQueue({ concurrency, longest: 100, refusal });

/** Work that ends on demand. */
function held() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { end, work: () => ended };
}
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  it('lets no caller wait for another one that has much waiting', async () => {
    const queue = aQueue(2);
    const order: string[] = [];
    const first = held();
    // Those that are never ended are forgotten with the test.
    for (const [index, { work }] of [first, held(), held()].entries()) {
      void queue.run('greedy', () => {
        order.push(`greedy ${index}`);
        return work();
      });
    }
    await queue.run('modest', async () => void order.push('modest'));
    expect(order).toEqual(['greedy 0', 'modest']);
    first.end();
    await turns();
    expect(order).toEqual(['greedy 0', 'modest', 'greedy 1']);
  });

  it('takes callers in turns when there is room for one', async () => {
    const queue = aQueue(1);
    const order: string[] = [];
    const of = (caller: string) => queue.run(caller, async () => void order.push(caller));
    await Promise.all([of('a'), of('a'), of('a'), of('b'), of('c'), of('b')]);
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
  });

  it('continues after work that fails, and refuses what is too much', async () => {
    const queue = aQueue(1);
    await expect(queue.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const { work, end } = held();
    const all = Array.from({ length: 101 }, () => queue.run('a', work));
    await expect(queue.run('a', work)).rejects.toMatchObject({ status: 429, code: 'TOO_MANY' });
    end();
    await Promise.all(all);
    expect(await queue.run('b', async () => 'done')).toBe('done');
  });
});
