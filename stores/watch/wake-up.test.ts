import { WakeUp } from './wake-up';

describe('waiting for changes', () => {
  const signal = (): AbortSignal => new AbortController().signal;

  it('polls by the clock alone, also while many readers begin to wait', async () => {
    let polls = 0;
    const wakeUp = new WakeUp({ everyMs: 5, changed: () => (polls += 1) === 3 });
    const readers = Array.from({ length: 50 }, () => wakeUp.wait('topic', wakeUp.ticket(), signal()));
    expect(polls).toBe(0);
    await Promise.all(readers);
    expect(polls).toBe(3);
    wakeUp.close();
  });

  it('ends with a change that another reader has found', async () => {
    const wakeUp = new WakeUp({ everyMs: 60_000, changed: () => false });
    const ticket = wakeUp.ticket();
    wakeUp.notify('other');
    await wakeUp.wait('topic', ticket, signal());
    wakeUp.close();
  });
});
