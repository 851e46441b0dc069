// Does the same thing over and over, one event for each line of its plan, then waits for a command.
// Arguments: how often it repeats itself at first, how often again after each command, and the tokens it reports.
import { createInterface } from 'node:readline';

const [first = 3, again = 0, tokens = 0] = process.argv.slice(2).map(Number);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const circle = (times) => {
  for (let time = 0; time < times; time += 1) {
    say({
      type: 'tool',
      name: 'read_file',
      status: 'completed',
      detail: { path: 'README.md' },
      itemId: `${Math.random()}`,
    });
  }
};

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
circle(first);
if (tokens > 0) {
  say({ type: 'tokens', inputTokens: tokens, outputTokens: 0 });
}
for (;;) {
  const { value: line, done } = await lines.next();
  if (done) {
    break;
  }
  const command = JSON.parse(line);
  say({ type: 'message', text: `heard ${command.type}` });
  if (command.message === 'finish') {
    say({ type: 'result', status: 'success', summary: 'Told to finish.' });
    process.stdout.write('', () => process.exit(0));
  }
  circle(again);
}
