// Edits a file, commits it if it may, and reports. `steps` and `delay` (ms) as arguments.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const [steps = '3', pauseMs = '0'] = process.argv.slice(2);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { envelope, attemptId } = JSON.parse(first);
for (let step = 1; step <= Number(steps); step += 1) {
  writeFileSync(`step-${step}.txt`, `${attemptId}\n`);
  say({ type: 'progress', message: `step ${step}`, percent: Math.round((step / Number(steps)) * 100) });
  await delay(Number(pauseMs));
}
if (envelope.commitPolicy !== 'forbidden') {
  const git = (...args) => execFileSync('git', ['-c', 'user.name=Bee', '-c', 'user.email=bee@localhost', ...args]);
  git('add', '-A');
  git('commit', '--quiet', '-m', 'Work');
}
say({ type: 'tokens', model: 'bee-1', inputTokens: 10, outputTokens: 20, cost: 0.25 });
say({ type: 'result', status: 'success', summary: `did ${steps} steps` });
process.exit(0);
