// Follows its messages: each one is a turn of the session "s", with one instruction in each line:
// `write <path> <content>`, `delete <path>`, `silently <path> <content>` (without a word about it), `finish`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

let turn = 0;
const say = (event) => process.stdout.write(`${JSON.stringify({ sessionId: 's', turnId: `t${turn}`, ...event })}\n`);
const put = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${content}\n`);
};

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
say({ type: 'progress', message: 'ready' });
for (;;) {
  const { value: line, done } = await lines.next();
  if (done) {
    break;
  }
  const command = JSON.parse(line);
  turn += 1;
  for (const instruction of String(command.message ?? '').split('\n')) {
    const [verb, path, ...content] = instruction.split(' ');
    if (verb === 'write') {
      put(path, content.join(' '));
      say({ type: 'file', path, status: 'modified' });
    } else if (verb === 'silently') {
      put(path, content.join(' '));
    } else if (verb === 'delete') {
      rmSync(path, { force: true });
      say({ type: 'file', path, status: 'deleted' });
    } else if (verb === 'finish') {
      say({ type: 'result', status: 'success', summary: 'Finished as told.' });
      process.stdout.write('', () => process.exit(0));
    }
  }
  say({ type: 'message', text: `did turn ${turn}` });
}
