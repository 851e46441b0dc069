// Requests permission, writes `applied` for each response into the file named by WITNESS, and works when allowed to.
import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const witness = (what) =>
  appendFileSync(process.env.WITNESS, `${what} ${process.env.BOARD_ATTEMPT_ID} ${process.pid}\n`);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
witness('start');
say({ type: 'approval', id: 'work', action: 'do the work', actionClass: 'tool' });
for await (const line of lines) {
  const { type, decision } = JSON.parse(line);
  if (type !== 'approval') {
    continue;
  }
  witness('applied');
  if (decision !== 'approved') {
    process.exit(1);
  }
  break;
}
writeFileSync('work.txt', `${process.env.BOARD_ATTEMPT_ID}\n`);
const git = (...args) => execFileSync('git', ['-c', 'user.name=Bee', '-c', 'user.email=bee@localhost', ...args]);
git('add', '-A');
git('commit', '--quiet', '-m', 'Work');
say({ type: 'tokens', model: 'bee-1', inputTokens: 10, outputTokens: 20, cost: 0.25 });
say({ type: 'result', status: 'success', summary: 'did it' });
process.exit(0);
