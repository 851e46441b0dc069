// Reads nothing of its input until the file GATE exists, so that commands to it stay in flight. Then it leaves a
// line in WITNESS for each command it reads, and ends when it is interrupted.
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const witness = (what) => appendFileSync(process.env.WITNESS, `${process.env.BOARD_ATTEMPT_ID} ${what}\n`);

witness('start');
say({ type: 'progress', message: 'gated' });
while (!existsSync(process.env.GATE)) {
  await delay(20);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
for (;;) {
  const { value: line, done } = await lines.next();
  if (done) {
    break;
  }
  let command;
  try {
    command = JSON.parse(line);
  } catch {
    // The worker was killed in the middle of it.
    break;
  }
  witness(`${command.type} ${(command.message ?? '').trim()}`);
  if (command.type === 'interrupt') {
    say({ type: 'result', status: 'partial', summary: 'Interrupted.' });
    process.stdout.write('', () => process.exit(0));
  }
}
