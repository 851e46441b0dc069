// Speaks the Agent Client Protocol as badly as its argument demands.
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';

const [how] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (fields) => say({ method: 'session/update', params: { sessionId: 's', update: fields } });
const initialized = { protocolVersion: 1, agentCapabilities: {} };

if (how === 'silent') {
  setInterval(() => undefined, 1_000);
}
if (how === 'old') {
  initialized.protocolVersion = 0;
}

const prompted = {
  garbage(id) {
    process.stdout.write(Buffer.from([0, 255, 254, 123, 34, 10]));
    process.stdout.write(
      'not json\n[1,2]\nnull\n{"jsonrpc":"2.0","id":99,"result":{}}\n{"a":{"__proto__":{"polluted":1}}}\n',
    );
    say({ method: 'session/update', params: 7 });
    say({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'dance' } } });
    say({ method: 'no/such', params: {} });
    say({ id: 1, method: 'fs/read_text_file', params: { sessionId: 's', path: '/etc/passwd' } });
    say({ id: { no: 'id' }, method: 'terminal/create', params: {} });
    say({ id, result: { stopReason: 'end_turn' } });
  },
  // Messages nested so deeply that a recursive reader runs out of stack, and a request and numbers that cannot be stored.
  deep(id) {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    process.stdout.write(`{"jsonrpc":"2.0","method":"session/update","params":${nested}}\n`);
    process.stdout.write(`{"jsonrpc":"2.0","id":"deep","method":"session/request_permission","params":${nested}}\n`);
    process.stdout.write(`{"jsonrpc":"2.0","method":"x/${'k'.repeat(2000)}","params":{"__proto__":{"polluted":1}}}\n`);
    process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":{"a":1e999,"b":"\\ud800"}}\n');
    const options = Array.from({ length: 1_000 }, (_, index) => ({
      optionId: `${index}`,
      name: 'o',
      kind: 'allow_once',
    }));
    const toolCall = { toolCallId: 'tool', title: 'Everything' };
    say({ id: 'options', method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
    answers.on('deep', (error) => update(chunk(`deep ${error?.code}`)));
    answers.on('options', (_error, result) => {
      update(chunk(` options ${result?.outcome.outcome}`));
      say({ id, result: { stopReason: 'end_turn' } });
    });
  },
  // The response to our own request cannot be read.
  'deep-answer': (id) =>
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}\n`),
  dies: () => process.exit(0),
  'dies-with-reason'() {
    process.stderr.write('Error: The license has expired.\n    at main (agent.js:1:1)\n', () => process.exit(1));
  },
  // What the API of a model responded, passed on as it is.
  'model-error': (id) =>
    say({ id, error: { code: 400, message: '{"error":{"code":400,"message":"API key not valid.","status":"X"}}' } }),
  // How a file that does not exist differs from one that may not be read.
  missing(id) {
    say({ id: 'm', method: 'fs/read_text_file', params: { sessionId: 's', path: `${process.cwd()}/nothing.txt` } });
    answers.on('m', (error) => {
      update(chunk(`${error?.code} ${error?.message}`));
      say({ id, result: { stopReason: 'end_turn' } });
    });
  },
  error: (id) => say({ id, error: { code: -32000, message: 'Log in first with key sk-abcdefghijklmnopqrstuvwxyz' } }),
  huge(id) {
    process.stdout.write(`{"jsonrpc":"2.0","method":"session/update","params":"${'x'.repeat(6_000_000)}"}\n`);
    say({ id, result: { stopReason: 'end_turn' } });
  },
  flood(id) {
    let left = 20_000;
    const more = () => {
      while (left > 0) {
        left -= 1;
        const text = `${left} `.padEnd(500, 'x');
        const frame = { method: 'session/update', params: { sessionId: 's', update: chunk(text) } };
        if (!process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`)) {
          return process.stdout.once('drain', more);
        }
      }
      say({ id, result: { stopReason: 'end_turn' } });
    };
    more();
  },
  // Asks without end and never reads a response.
  asks() {
    lines.close();
    process.stdin.pause();
    const more = (n) => {
      for (let next = n; ; next += 1) {
        if (
          !process.stdout.write(
            `${JSON.stringify({ jsonrpc: '2.0', id: next, method: 'fs/read_text_file', params: {} })}\n`,
          )
        ) {
          return process.stdout.once('drain', () => more(next + 1));
        }
      }
    };
    more(1_000);
  },
  deaf: () => process.on('SIGTERM', () => undefined),
  ends: (id) => {
    update(chunk('done'));
    say({ id, result: { stopReason: 'max_tokens' } });
    // And stays.
    setInterval(() => undefined, 1_000);
  },
};
const answers = new EventEmitter();
const chunk = (text) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, error, result } = JSON.parse(line);
  if (how === 'silent') {
    return;
  }
  if (method === undefined) {
    answers.emit(id, error, result);
  }
  if (method === 'initialize') {
    say({ id, result: initialized });
  }
  if (method === 'session/new') {
    say({ id, result: { sessionId: 's' } });
  }
  if (method === 'session/prompt') {
    prompted[how](id);
  }
});
