// A tool server without dependencies: JSON-RPC 2.0 over standard streams, a message a line.
import { createInterface } from 'node:readline';

const tools = [
  {
    name: 'count-words',
    description: 'Counts the words of a text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
];

const textOf = (text) => ({ content: [{ type: 'text', text }] });

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'words', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { text } }) => textOf(String(text.split(/\s+/).filter(Boolean).length)),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) {
    return;
  }
  const handle = methods[method];
  const answer = handle ? { result: handle(params ?? {}) } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
