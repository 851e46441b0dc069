import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openInput } from '../../../providers/agents/detached/input';
import { createSpool, type Spool, spoolIn, unmarkTorn } from '../../../providers/agents/detached/spool';

let directory: TempDir;
let spool: Spool;
/** All that an agent was sent, once its input is closed; it reads nothing before `read`. */
let reading: Promise<string>;
let read: () => void;

describe('input of detached agents', () => {
  beforeEach(async () => {
    directory = await makeTempDir('held-input');
    spool = await createSpool(join(directory.path, 'spool'), 'binding');
    unmarkTorn(spool);
    execFileSync('mkfifo', [spool.in]);
    const stream = createReadStream(spool.in, { encoding: 'utf8' });
    let text = '';
    reading = new Promise((resolve) => stream.on('end', () => resolve(text)));
    stream.pause();
    read = () => void stream.on('data', (more) => (text += String(more))).resume();
  });
  afterEach(() => directory.remove());

  const opened = (): Promise<Writable> =>
    eventually(async () => {
      const input = await openInput(spool, false);
      if (!input) {
        throw new Error('no reader yet');
      }
      return input;
    });

  /** Longer than a pipe: written only when it is read. */
  const long = `${'x'.repeat(200_000)}\n`;
  const written = (input: Writable, text: string): Promise<Error | undefined> =>
    new Promise((resolve) => input.write(text, (error) => resolve(error ?? undefined)));

  it('a mark that cannot be made fails its line, also when the stream writes by itself, and nothing else', async () => {
    const input = await opened();
    // The second one waits for the first, so that it is written in a callback of a socket.
    const first = written(input, long);
    const second = written(input, long);
    await rm(spool.path, { recursive: true });
    read();
    expect(await first).toBeUndefined();
    expect(await second).toMatchObject({ code: 'ENOENT' });
    input.destroy();
    expect(await reading).toBe(long);
  });

  it('the mark is made and taken back without making or removing a file', async () => {
    const input = await opened();
    const line = written(input, long);
    await eventually(() => expect(existsSync(spool.torn)).toBe(true));
    expect(existsSync(spool.whole)).toBe(false);
    read();
    expect(await line).toBeUndefined();
    expect(existsSync(spool.torn)).toBe(false);
    expect(existsSync(spool.whole)).toBe(true);
    input.destroy();
    await reading;
  });

  it('the spool of an earlier version, which has no file to rename, is marked nevertheless', async () => {
    rmSync(spoolIn(spool.path).whole);
    const input = await opened();
    const line = written(input, long);
    await eventually(() => expect(existsSync(spool.torn)).toBe(true));
    read();
    expect(await line).toBeUndefined();
    expect(existsSync(spool.torn)).toBe(false);
    input.destroy();
    await reading;
  });
});
