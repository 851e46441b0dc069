// Repeats every command it reads as a message until it is asked to end: by `interrupt`, or by the words "finish".
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const finish = (status, summary) => {
  say({ type: 'result', status, summary });
  process.stdout.write('', () => process.exit(0));
};

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
say({ type: 'progress', message: 'listening' });
for (;;) {
  const { value: line, done } = await lines.next();
  if (done) {
    break;
  }
  const command = JSON.parse(line);
  if (process.env.WITNESS) {
    appendFileSync(process.env.WITNESS, `${process.env.BOARD_ATTEMPT_ID} ${line}\n`);
  }
  say({ type: 'message', text: `heard ${command.type} ${command.message ?? ''}`.trim() });
  if (command.type === 'interrupt') {
    finish('partial', 'Interrupted.');
  }
  if (command.message === 'finish') {
    finish('success', 'Finished as told.');
  }
}
