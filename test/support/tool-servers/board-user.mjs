// An agent of the Agent Client Protocol that does what the board's prompt asks, with the tools of the board that its session names.
// It ends the task that it picked up, and writes the id of that to the file it is given.
import { writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [file, project] = process.argv.slice(2);
let servers = [];

async function work() {
  const { url, headers } = servers.find(({ name }) => name === 'board');
  const client = new Client({ name: 'board-user', version: '1' });
  const requestInit = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const call = async (name, values) => {
    const { content, isError } = await client.callTool({ name, arguments: values });
    if (isError) {
      throw new Error(content[0].text);
    }
    return JSON.parse(content[0].text);
  };
  const { messages } = await client.getPrompt({ name: 'pick_up_next_task', arguments: { project } });
  const { id: taskId, revision } = JSON.parse(messages[1].content.resource.text);
  await call('get_task_context', { taskId });
  await call('update_task', { taskId, expectedRevision: revision, status: 'in-progress' });
  await call('add_observation', { taskId, type: 'decision', content: 'Do it at once' });
  await call('report_progress', { taskId, section: 'Done', content: 'All of it' });
  await call('add_comment', { taskId, text: 'It is done.' });
  const { revision: last } = await call('get_task', { taskId });
  await call('update_task', { taskId, expectedRevision: last, status: 'done' });
  writeFileSync(file, taskId);
  await client.close();
  return taskId;
}

agent({ name: 'board-user' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'board-user', version: '1' },
    agentCapabilities: { mcpCapabilities: { http: true } },
  }))
  .onRequest('session/new', ({ params }) => {
    servers = params.mcpServers;
    return { sessionId: 's' };
  })
  .onRequest('session/prompt', async ({ params: { sessionId }, client }) => {
    const text = `Completed ${await work()}.`;
    const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text } };
    await client.notify('session/update', { sessionId, update });
    return { stopReason: 'end_turn' };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  .closed.finally(() => process.exit(0));
