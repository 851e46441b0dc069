// Writes as many events as its first argument, one every so many milliseconds as its second (0: as fast as it
// is read), each with the moment at which it was written.
import { setTimeout as delay } from 'node:timers/promises';

const [count, everyMs] = process.argv.slice(2).map(Number);
const now = () => performance.timeOrigin + performance.now();

for (let n = 1; n <= count; n += 1) {
  const line = JSON.stringify({ type: 'progress', message: `step ${n} of the work`, percent: 50, at: now() });
  if (!process.stdout.write(`${line}\n`)) {
    await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  if (everyMs > 0) {
    await delay(everyMs);
  }
}
process.exitCode = 0;
process.stdin.destroy();
