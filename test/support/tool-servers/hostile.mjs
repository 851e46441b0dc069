// A tool server that misbehaves in the way its first argument names; in everything else it speaks the protocol.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [how, file] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (fields = {}) => ({ name: 'echo', inputSchema: { type: 'object' }, ...fields });
const nested = (depth) => (depth === 0 ? {} : { properties: { a: nested(depth - 1) } });

/** What the server lists in each way. */
const lists = {
  'many-tools': () => ({ tools: Array.from({ length: 5_000 }, (_, index) => tool({ name: `tool_${index}` })) }),
  'same-cursor': () => ({ tools: [], nextCursor: 'again' }),
  'new-cursors': () => ({ tools: [], nextCursor: String(Math.random()) }),
  'huge-schema': () => ({ tools: [tool({ inputSchema: { type: 'object', description: 'x'.repeat(100_000) } })] }),
  'deep-schema': () => ({ tools: [tool({ inputSchema: nested(20) })] }),
  'no-schema': () => ({ tools: [tool({ inputSchema: { type: 'nonsense' } })] }),
  'remote-schema': () => ({ tools: [tool({ inputSchema: { $ref: 'https://example.com/schema' } })] }),
  'same-names': () => ({ tools: [tool(), tool()] }),
  'empty-name': () => ({ tools: [tool({ name: '' })] }),
  'long-texts': () => ({ tools: [tool({ title: 't'.repeat(5_000), description: `\u001b[31m${'d'.repeat(50_000)}` })] }),
  'no-list': () => ({ tools: 'none' }),
  secrets: () => ({
    tools: [tool({ description: `uses ${process.env.TOOL_SECRET}`, inputSchema: { title: process.env.TOOL_SECRET } })],
  }),
};

/** What the server does when it is called. */
const calls = {
  silent: () => undefined,
  dies: () => process.exit(3),
  'big-result': (id) => send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(2_000_000) }] } }),
  secrets: (id) => send({ id, result: { content: [{ type: 'text', text: `is ${process.env.TOOL_SECRET}` }] } }),
  pid: (id) => send({ id, result: { content: [{ type: 'text', text: `${process.pid} ${process.cwd()}` }] } }),
};

if (how === 'dies-at-once') {
  process.stderr.write(`Error: no licence for ${process.env.TOOL_SECRET}\n`, () => process.exit(1));
}
if (how === 'dies-once' && !existsSync(file)) {
  appendFileSync(file, 'died');
  process.exit(1);
}
if (how === 'counts') {
  appendFileSync(file, `${process.pid}\n`);
}
if (how === 'leaves-child') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  appendFileSync(file, `${process.pid}\n${child.pid}\n`);
}
if (how === 'stubborn') {
  process.on('SIGTERM', () => undefined);
  appendFileSync(file, `${process.pid}\n`);
  setInterval(() => undefined, 1_000);
}

const flood = (line) => {
  const more = () => {
    while (process.stdout.write(line)) {}
    process.stdout.once('drain', more);
  };
  more();
};

const noise = {
  junk: () => flood('this is no message\n'),
  'endless-line': () => flood('x'.repeat(65_536)),
  notifications: () =>
    flood(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(65_536)}"}}\n`),
  'deep-message': () =>
    process.stdout.write(`{"jsonrpc":"2.0","id":0,"result":${'['.repeat(5_000)}${']'.repeat(5_000)}}\n`),
  pollution: () => process.stdout.write('{"jsonrpc":"2.0","id":0,"result":{"__proto__":{"polluted":true}}}\n'),
  asking: () => {
    for (let id = 0; id < 200; id += 1) {
      send({ id, method: 'sampling/createMessage', params: {} });
    }
  },
};

const responses = {
  initialize: ({ id, params }) => {
    noise[how]?.();
    if (how === 'mute' || how === 'stubborn' || (how in noise && how !== 'asking')) {
      return;
    }
    if (how === 'half-open') {
      process.stdout.end();
      return;
    }
    const { protocolVersion } = params;
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'hostile', version: '1' } },
    });
  },
  'tools/list': ({ id }) => {
    if (how === 'gated') {
      // Until a test lets it through, by a file.
      appendFileSync(file, `${process.pid}\n`);
      const waiting = setInterval(() => {
        if (existsSync(`${file}.open`)) {
          clearInterval(waiting);
          send({ id, result: { tools: [tool()] } });
        }
      }, 20);
      return;
    }
    if (how === 'mute-list') {
      return;
    }
    if (how === 'closes-half-way') {
      process.stdout.write('{"jsonrpc":"2.0","id":1,"resu', () => process.exit(0));
      return;
    }
    send({ id, result: (lists[how] ?? (() => ({ tools: [tool()] })))() });
  },
  'tools/call': ({ id }) => (calls[how] ?? calls.pid)(id),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) {
    responses[message.method]?.(message);
  }
});
