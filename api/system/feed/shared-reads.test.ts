import type { RunEvent } from '../../../contracts/runs/event';
import { shareReads } from './shared-reads';

const page = { attemptId: 'attempt_1', cursor: 2, upTo: 4, limit: 200 };

/** A store whose reads wait until they are released. */
function slowStore() {
  const waiting: ((events: RunEvent[]) => void)[] = [];
  const read = jest.fn(() => new Promise<RunEvent[]>((resolve) => waiting.push(resolve)));
  return { read, release: () => waiting.splice(0).forEach((resolve) => resolve([])) };
}

describe('reads of followers', () => {
  test('the same page is read once for all who read it at the same time', async () => {
    const store = slowStore();
    const read = shareReads(store);
    const pages = Promise.all([read(page), read(page), read(page)]);
    store.release();
    const [first, ...others] = await pages;
    expect(store.read.mock.calls).toEqual([['attempt_1', 2, 200]]);
    expect(others.every((other) => other === first)).toBe(true);
  });

  test('a reader that knows of a later event is not given what was read before it', async () => {
    const store = slowStore();
    const read = shareReads(store);
    const pages = Promise.all([read(page), read({ ...page, upTo: 5 }), read({ ...page, cursor: 3 })]);
    expect(store.read).toHaveBeenCalledTimes(3);
    store.release();
    await pages;
  });

  test('a page is read again later, and after a failure', async () => {
    const failing = jest.fn(() => Promise.reject(new Error('away')));
    const read = shareReads({ read: failing });
    await expect(Promise.all([read(page), read(page)])).rejects.toThrow('away');
    await expect(read(page)).rejects.toThrow('away');
    expect(failing).toHaveBeenCalledTimes(2);
  });
});
