import { DiskFullError } from '../../../platform/errors/disk-full';
import { GitError } from '../../../providers/git/git-error';
import { StoreFullError, StoreUnavailableError } from '../../../stores/port/errors';
import { untilSpace } from './until-space';

const log = { warn: () => undefined, info: () => undefined };

/** Fails so many times, for the reason. */
const failing = (times: number, error: Error) => {
  const calls = { count: 0 };
  const work = (): Promise<string> => {
    calls.count += 1;
    return calls.count > times ? Promise.resolve('done') : Promise.reject(error);
  };
  return { calls, work };
};

const noSpace = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });

describe('retries until there is disk space', () => {
  it.each([
    ['the stores', new StoreFullError('the embedded database')],
    ['a file', new DiskFullError('attachments and artifacts')],
    ['the system', noSpace],
    ['git', new GitError('failed', 'fatal: unable to write new index file: No space left on device')],
  ])('does it again while there is no space for %s', async (_where, error) => {
    const { calls, work } = failing(3, error);
    await expect(untilSpace(work, { log, ending: new AbortController().signal, everyMs: 1 })).resolves.toBe('done');
    expect(calls.count).toBe(4);
  });

  it('does nothing again that failed for another reason', async () => {
    const { calls, work } = failing(1, new StoreUnavailableError('away'));
    await expect(untilSpace(work, { log, ending: new AbortController().signal, everyMs: 1 })).rejects.toThrow('away');
    expect(calls.count).toBe(1);
  });

  it('fails with what it waits for when its worker ends', async () => {
    const ending = new AbortController();
    const { work } = failing(Infinity, noSpace);
    const waiting = untilSpace(work, { log, ending: ending.signal, everyMs: 60_000 });
    ending.abort();
    await expect(waiting).rejects.toBe(noSpace);
  });
});
