// Copies the file of a handle of its attempt to a path of the test, prints the handle, and works until it gets a command.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const [copy, variable = 'BOARD_ATTEMPT_HANDLE'] = process.argv.slice(2);
const path = process.env[variable];
const content = path === undefined ? '{"handle":"none"}' : readFileSync(path, 'utf8');
const { handle } = JSON.parse(content);
const inEnvironment = JSON.stringify(process.env).includes(handle);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const task = (await lines.next()).value;
const mode = path === undefined ? '' : (statSync(path).mode & 0o777).toString(8);
const { sections, toolBridge } = JSON.parse(task);
const found = {
  ...JSON.parse(content),
  path,
  mode,
  inEnvironment,
  inTask: task.includes(handle),
  sections,
  toolBridge,
};
writeFileSync(`${copy}.draft`, JSON.stringify(found));
renameSync(`${copy}.draft`, copy);
say({ type: 'progress', message: `my handle is ${handle}` });
await lines.next();
say({ type: 'result', status: 'success', summary: `done with ${handle}` });
process.stdout.write('', () => process.exit(0));
