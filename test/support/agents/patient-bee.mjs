// Reports one step after another until the file named by its argument is there, then commits and reports. Leaves a line
// for its start and its end in the file named by WITNESS, if there is one.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const [gate] = process.argv.slice(2);
const witness = (what) =>
  process.env.WITNESS &&
  appendFileSync(process.env.WITNESS, `${what} ${process.env.BOARD_ATTEMPT_ID} ${process.pid}\n`);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
witness('start');
for (let step = 1; step < 3 || !existsSync(gate); step += 1) {
  say({ type: 'progress', message: `step ${step}` });
  await delay(50);
}
writeFileSync('work.txt', `${process.env.BOARD_ATTEMPT_ID}\n`);
const git = (...args) => execFileSync('git', ['-c', 'user.name=Bee', '-c', 'user.email=bee@localhost', ...args]);
git('add', '-A');
git('commit', '--quiet', '-m', 'Work');
say({ type: 'tokens', model: 'bee-1', inputTokens: 10, outputTokens: 20, cost: 0.25 });
say({ type: 'result', status: 'success', summary: 'did it' });
witness('end');
process.exit(0);
