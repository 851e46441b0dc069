// Copies the handle of its attempt to a path of the test, prints it, and works until it gets a command.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const [copy] = process.argv.slice(2);
const path = process.env.BOARD_ATTEMPT_HANDLE;
const content = readFileSync(path, 'utf8');
const { handle } = JSON.parse(content);
const inEnvironment = JSON.stringify(process.env).includes(handle);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const task = (await lines.next()).value;
const mode = (statSync(path).mode & 0o777).toString(8);
writeFileSync(
  copy,
  JSON.stringify({ ...JSON.parse(content), path, mode, inEnvironment, inTask: task.includes(handle) }),
);
say({ type: 'progress', message: `my handle is ${handle}` });
await lines.next();
say({ type: 'result', status: 'success', summary: `done with ${handle}` });
process.stdout.write('', () => process.exit(0));
