import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const script = join(__dirname, '..', '..', '..', 'dist', 'services', 'bitmap', 'main.js');

let directory: TempDir;
let running: ChildProcess | undefined;
describe('bitmap index after kills', () => {
  beforeEach(async () => {
    directory = await makeTempDir('bitmap-killed');
  });
  afterEach(async () => {
    if (running?.exitCode === null && running.signalCode === null) {
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    await directory.remove();
  });

  /** Starts the server as a process, and returns its URL once it listens. */
  async function start(): Promise<string> {
    const child = spawn(process.execPath, [script], {
      env: {
        PATH: process.env.PATH,
        BOARD_DATA_DIR: directory.path,
        BOARD_AUTH_ENABLED: 'false',
        BITMAP_PORT: '0',
        LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, msg, level } = JSON.parse(line) as { url?: string; msg: string; level: string };
      if (level === 'fatal') {
        throw new Error(msg);
      }
      if (url !== undefined) {
        child.stdout.resume();
        return url;
      }
    }
    throw new Error('the server ended before it listened');
  }

  /** The result of any call: this test knows what it asks for. */
  type Result = { columns: number[]; value: number; count: number } & number;
  type Results = [Result, Result, Result];

  const query = async (url: string, text: string): Promise<Results> => {
    const reply = await fetch(`${url}/index/i/query`, { method: 'POST', body: text });
    if (reply.status !== 200) {
      throw new Error(await reply.text());
    }
    return ((await reply.json()) as { results: Results }).results;
  };

  it('keeps every acknowledged write when it is killed at any moment', async () => {
    let url = await start();
    await fetch(`${url}/index/i`, { method: 'POST' });
    await fetch(`${url}/index/i/field/a`, { method: 'POST' });
    await fetch(`${url}/index/i/field/v`, {
      method: 'POST',
      body: '{"options":{"type":"int","min":-1000000,"max":1000000}}',
    });

    /** Acknowledged: present, or the value. Tried and not acknowledged: may be or not. */
    const bits = new Map<number, boolean>();
    const values = new Map<number, number>();
    const unsure = new Set<number>();
    let next = 0;
    let acknowledged = 0;

    for (let round = 0; round < 6; round += 1) {
      let alive = true;
      const write = async (): Promise<void> => {
        while (alive) {
          const column = (next += 1);
          // Both in one request: after a crash it is there whole or not at all.
          const removed = [...bits.keys()].find((one) => one % 97 === column % 97 && bits.get(one) === true);
          const clear = column % 10 === 0 && removed !== undefined ? removed : undefined;
          unsure.add(column);
          if (clear !== undefined) {
            unsure.add(clear);
            bits.delete(clear);
          }
          try {
            await query(
              url,
              `Set(${column}, a=1) Set(${column}, v=${column * 3})${clear === undefined ? '' : ` Clear(${clear}, a=1)`}`,
            );
          } catch {
            return;
          }
          acknowledged += 1;
          unsure.delete(column);
          bits.set(column, true);
          values.set(column, column * 3);
          if (clear !== undefined) {
            unsure.delete(clear);
            bits.set(clear, false);
          }
        }
      };
      const writers = Array.from({ length: 8 }, write);
      const enough = acknowledged + 40 + round * 60;
      while (acknowledged < enough) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      running?.kill('SIGKILL');
      await once(running!, 'exit');
      alive = false;
      await Promise.all(writers);

      url = await start();
      const [row, , { value: sum, count }] = await query(url, 'Row(a=1) Count(Row(v != null)) Sum(field=v)');
      const found = new Set<number>(row.columns);
      const wrong = [...bits].filter(([column, present]) => !unsure.has(column) && found.has(column) !== present);
      expect(wrong).toEqual([]);
      const [withValue] = await query(url, 'Row(v != null)');
      const valued = new Set<number>(withValue.columns);
      expect([...values.keys()].filter((column) => !valued.has(column))).toEqual([]);
      expect([count, sum]).toEqual([valued.size, [...valued].reduce((total, column) => total + column * 3, 0)]);
      expect([...valued].filter((column) => !values.has(column) && !unsure.has(column))).toEqual([]);
      for (const column of unsure) {
        // What the dead server did with it is what counts from here on.
        if (column !== 0) {
          bits.set(column, found.has(column));
        }
        if (valued.has(column)) {
          values.set(column, column * 3);
        }
      }
      unsure.clear();
    }
    expect(acknowledged).toBeGreaterThan(500);

    // In order: it writes snapshots, and starts from them.
    running?.kill('SIGTERM');
    const [code] = await once(running!, 'exit');
    expect(code).toBe(0);
    const [count] = await query(await start(), 'Count(Row(v != null))');
    expect(count).toBe(values.size);
  });

  it('refuses a second server on the same data', async () => {
    await start();
    const first = running;
    await expect(start()).rejects.toThrow('start failed');
    const [code] = running?.exitCode === null ? await once(running, 'exit') : [running?.exitCode];
    expect(code).toBe(2);
    running = first;
  });
});
