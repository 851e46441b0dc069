// An agent of the Agent Client Protocol that calls the tools of its session: those of a file, whose results it writes to another.
import { readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [calls, results] = process.argv.slice(2);
let servers = [];

async function useTools() {
  const [{ url, headers }] = servers;
  const client = new Client({ name: 'mcp-user', version: '1' });
  const requestInit = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const { tools } = await client.listTools();
  const made = [];
  for (const call of JSON.parse(readFileSync(calls, 'utf8'))) {
    made.push(await client.callTool(call));
  }
  const offered = servers.map(({ type, name }) => ({ type, name }));
  writeFileSync(results, JSON.stringify({ servers: offered, tools: tools.map(({ name }) => name), made }));
  await client.close();
}

agent({ name: 'mcp-user' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'mcp-user', version: '1' },
    agentCapabilities: { mcpCapabilities: { http: true } },
  }))
  .onRequest('session/new', ({ params }) => {
    servers = params.mcpServers;
    return { sessionId: 's' };
  })
  .onRequest('session/prompt', async () => {
    await useTools();
    return { stopReason: 'end_turn' };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  .closed.finally(() => process.exit(0));
