import { allDone } from './all-done';

describe('independent pieces of work', () => {
  it('are all over before the failure of one is reported', async () => {
    const order: string[] = [];
    const fails = Promise.reject(new Error('first'));
    const late = new Promise<void>((resolve) => setImmediate(resolve)).then(() => order.push('late'));
    await allDone([late, fails, Promise.reject(new Error('second'))]).catch((error: unknown) =>
      order.push((error as Error).message),
    );
    expect(order).toEqual(['late', 'first']);
  });

  it('are done when each of them is', async () => {
    await expect(allDone([Promise.resolve(1), Promise.resolve('two')])).resolves.toBeUndefined();
    await expect(allDone([])).resolves.toBeUndefined();
  });
});
