import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { releaseWhenIdle } from '../../platform/processes/parts/idle-memory';

const parts = join(__dirname, '..', '..', 'dist', 'platform', 'processes', 'parts');

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
      const rules = { lookEveryMs: 20, busy: 0.5, worthwhile: 16 * mb };
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
      const stop = releaseWhenIdle({ lookEveryMs: 5, busy: 0.5, worthwhile: 0 }, () => {
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
});
