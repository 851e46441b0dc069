// Prints and writes more than fits into events, then waits for the signal file named by its argument, if any.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const [waitFor] = process.argv.slice(2);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

process.stdout.write(`begin ${'é'.repeat(20_000)} end\n`);
say({
  type: 'tool',
  name: 'search',
  status: 'completed',
  detail: { hits: Array.from({ length: 500 }, (_, n) => ({ n })) },
});
mkdirSync('out');
writeFileSync('out/build.log', Array.from({ length: 3_000 }, (_, n) => `line ${n + 1}`).join('\r\n'));
symlinkSync('/etc/passwd', 'out/passwd');
say({ type: 'artifact', path: 'out/build.log', kind: 'log', name: 'Build log' });
say({ type: 'artifact', path: 'out/passwd' });
while (waitFor && !existsSync(waitFor)) {
  await delay(20);
}
say({ type: 'result', status: 'success', summary: 'done' });
process.exit(0);
