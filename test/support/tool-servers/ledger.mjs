// A tool server whose tool writes a line for each call: `hold` responds once `<file>.open` exists, `fail` reports a failure.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
writeFileSync(`${file}.pid`, String(process.pid));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const inputSchema = {
  type: 'object',
  properties: { line: { type: 'string', maxLength: 50 } },
  required: ['line'],
  additionalProperties: false,
};
const tools = ['append', 'hold', 'fail', 'forbidden', 'careful'].map((name) => ({ name, inputSchema }));
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const call = ({ id, params: { name, arguments: values } }) => {
  appendFileSync(file, `${name} ${values.line}\n`);
  if (name === 'fail') {
    send({ id, result: { ...text('it failed'), isError: true } });
    return;
  }
  const respond = () => send({ id, result: text(`wrote ${values.line}`) });
  if (name !== 'hold') {
    respond();
    return;
  }
  const timer = setInterval(() => {
    if (existsSync(`${file}.open`)) {
      clearInterval(timer);
      respond();
    }
  }, 20);
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method === 'initialize') {
    const { protocolVersion } = message.params;
    const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'ledger', version: '1' } };
    send({ id: message.id, result });
  } else if (message.method === 'tools/list') {
    send({ id: message.id, result: { tools } });
  } else if (message.method === 'tools/call') {
    call(message);
  } else if (message.id !== undefined) {
    send({ id: message.id, result: {} });
  }
}
