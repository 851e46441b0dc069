import { createLog } from '../log/log';
import { createOpenedOnce } from './opened-once';

const log = createLog({ name: 'test', level: 'silent' });

describe('what is opened once', () => {
  it('is opened once, however many need it, and one after the other', async () => {
    let atOnce = 0;
    let most = 0;
    const opened: string[] = [];
    const things = createOpenedOnce(async (key) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await Promise.resolve();
      opened.push(key);
      atOnce -= 1;
      return { key };
    }, log);
    const all = await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map((key) => things.of(key)));
    expect(opened).toEqual(['a', 'b', 'c']);
    expect(most).toBe(1);
    expect(all[0]).toBe(all[2]);
    expect(all.map(({ key }) => key)).toEqual(['a', 'b', 'a', 'c', 'b', 'a']);
  });

  it('is tried again after a failure, with what was opened closed, and holds up nothing else', async () => {
    const closed: string[] = [];
    let broken = true;
    const things = createOpenedOnce(async (key, closers) => {
      closers.push(async () => void closed.push(key));
      if (broken && key === 'a') {
        throw new Error('broken');
      }
      return key;
    }, log);
    await expect(things.of('a')).rejects.toThrow('broken');
    expect([closed, things.has('a')]).toEqual([['a'], false]);
    expect(await things.of('b')).toBe('b');
    broken = false;
    expect(await things.of('a')).toBe('a');
    await things.close();
    expect(closed).toEqual(['a', 'a', 'b']);
  });

  it('is not opened after the end, and what is being opened is closed', async () => {
    const closed: string[] = [];
    const state = { begin: () => {}, finish: () => {} };
    const begun = new Promise<void>((resolve) => (state.begin = resolve));
    const finished = new Promise<void>((resolve) => (state.finish = resolve));
    const things = createOpenedOnce(async (key, closers) => {
      closers.push(async () => void closed.push(key));
      state.begin();
      await finished;
      return key;
    }, log);
    const opening = things.of('a');
    await begun;
    const closing = things.close();
    state.finish();
    await closing;
    expect([await opening, closed]).toEqual(['a', ['a']]);
    await expect(things.of('b')).rejects.toThrow('is ending');
  });
});
