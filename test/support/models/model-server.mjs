/**
 * A server of models that is a process of its own: `node model-server.mjs <port> <directory>`. It prints its port. A prompt with `HOLD x` is
 * answered once the directory has a file `open`; one with `TOOLS x` calls the tool `ledger__append` first. The file `asked` has a line for each.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const [port, directory] = process.argv.slice(2);
const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
const chunk = (delta, finish_reason = null, more = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});

/** The chunks of an answer. */
function answerTo(messages, line) {
  const wantsTool = line.startsWith('TOOLS') && !messages.some(({ role }) => role === 'tool');
  if (!wantsTool) {
    return [chunk({ content: `answer to ${line}` }), chunk({}, 'stop', { usage })];
  }
  const called = { name: 'ledger__append', arguments: JSON.stringify({ line }) };
  return [
    chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: called }] }),
    chunk({}, 'tool_calls', { usage }),
  ];
}

const server = createServer((request, response) => {
  void (async () => {
    const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const text = JSON.stringify(messages.filter(({ role }) => role === 'user').map(({ content }) => content));
    const [line = 'nothing'] = /(?:HOLD|TOOLS|ASK) [a-z0-9-]+/.exec(text) ?? [];
    appendFileSync(join(directory, 'asked'), `${line}\n`);
    while (line.startsWith('HOLD') && !existsSync(join(directory, 'open')) && !response.closed) {
      await delay(20);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const data of answerTo(messages, line)) {
      response.write(`data: ${JSON.stringify(data)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  })();
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
