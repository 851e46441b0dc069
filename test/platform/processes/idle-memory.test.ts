import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { releaseWhenIdle } from '../../../platform/processes/parts/idle-memory';

const parts = join(__dirname, '..', '..', '..', 'dist', 'platform', 'processes', 'parts');

describe('memory of an idle process', () => {
  /** Runs code in a process of its own, or in a thread of it; what it prints is parsed. */
  function run(code: string, inThread = false): unknown {
    const script = `
      const { releaseWhenIdle } = require('${parts}/idle-memory.js');
      const mb = 1024 * 1024;
      const heap = () => require('node:v8').getHeapStatistics().total_heap_size;
      const fill = () => Array.from({ length: mb }, (_, n) => ({ n, more: [n] }));
      /** Resolves with whether the heap has lost half of its size, which V8 alone needs half a minute for. */
      const halved = async (full) => {
        for (const until = performance.now() + 5_000; heap() > full / 2 && performance.now() < until; ) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return heap() <= full / 2;
      };
      const end = (result) => { require('node:fs').writeSync(1, JSON.stringify(result)); process.exit(); };
      const rules = { lookEveryMs: 20, looks: 1, restMs: 0, busy: 0.5, worthwhile: 16 * mb };
      let kept = fill();
      const full = heap();
      ${code}`;
    const started = inThread
      ? `new (require('node:worker_threads').Worker)(${JSON.stringify(script)}, { eval: true })`
      : script;
    const printed = execFileSync(process.execPath, ['-e', started], { encoding: 'utf8', timeout: 60_000 });
    return JSON.parse(printed) as unknown;
  }

  it.each([false, true])('is returned each time that there is more of it, in another thread: %s', (inThread) => {
    const printed = run(
      `
      kept = undefined;
      releaseWhenIdle(rules);
      const twice = async () => {
        const first = await halved(full);
        kept = fill();
        kept = undefined;
        return [first, await halved(full)];
      };
      void twice().then(end);`,
      inThread,
    );
    expect(printed).toEqual([true, true]);
  });

  it('is kept while the process is busy', async () => {
    const released = jest.fn();
    let turns = 0;
    await new Promise<void>((resolve) => {
      const stop = releaseWhenIdle({ lookEveryMs: 5, looks: 1, restMs: 0, busy: 0.5, worthwhile: 0 }, () => {
        released(turns);
        stop();
        resolve();
      });
      const work = (): void => {
        for (const until = performance.now() + 5; performance.now() < until;) {
          Math.random();
        }
        turns += 1;
        if (turns < 50) {
          setImmediate(work);
        }
      };
      work();
    });
    expect(released.mock.calls).toEqual([[50]]);
  });

  it('is not collected again before the rest is over', async () => {
    const at: number[] = [];
    const restMs = 200;
    const clock = jest.spyOn(performance, 'now');
    await new Promise<void>((resolve) => {
      const stop = releaseWhenIdle({ lookEveryMs: 5, looks: 1, restMs, busy: 1.1, worthwhile: 0 }, (released) => {
        // The time that the rest was counted from: the process may have stood still since.
        at.push(Number(clock.mock.results.at(-1)?.value));
        released();
        if (at.length === 2) {
          stop();
          resolve();
        }
      });
    });
    clock.mockRestore();
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(restMs);
  });

  it('is not collected before the thread was idle for as many looks', async () => {
    let looksOfLoop = 0;
    const lookEveryMs = 20;
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      const counting = setInterval(() => (looksOfLoop += 1), lookEveryMs);
      const stop = releaseWhenIdle({ lookEveryMs, looks: 5, restMs: 0, busy: 1.1, worthwhile: 0 }, () => {
        clearInterval(counting);
        stop();
        resolve();
      });
    });
    expect(looksOfLoop).toBeGreaterThanOrEqual(4);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5 * (lookEveryMs - 1));
  });
});
