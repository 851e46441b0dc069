// Replays a conversation of an agent of the Agent Client Protocol: `replay-acp.mjs <file> [log]`. Each line after the first is a
// message of the client, which has to come with the same method, values and all that the file names of it, or one of the agent.
// With `log`, the messages of the client are appended to that file.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file, log] = process.argv.slice(2);
const [, ...steps] = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));
/** What a client may say in its own words. */
const free = ['cwd', 'mcpServers', 'prompt', 'clientInfo', 'clientCapabilities'];
const idOf = new Map();
const fail = (problem) => {
  process.stderr.write(`${problem}\n`);
  process.exit(3);
};

function speak() {
  while (steps[0]?.agent) {
    const { id, ...message } = steps.shift().agent;
    const own = id === undefined || message.method !== undefined ? {} : { id: idOf.get(id) };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...own, ...message })}\n`);
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (log !== undefined) {
    appendFileSync(log, `${line}\n`);
  }
  const expected = steps.shift()?.client;
  if (expected?.method !== message.method) {
    fail(`${message.method} came instead of ${expected?.method}`);
  }
  for (const [name, value] of Object.entries(expected.params ?? {})) {
    if (!free.includes(name) && JSON.stringify(message.params[name]) !== JSON.stringify(value)) {
      fail(`${message.method} has another ${name}: ${JSON.stringify(message.params[name])}`);
    }
  }
  idOf.set(expected.id, message.id);
  speak();
});
lines.on('close', () => process.exit(0));
