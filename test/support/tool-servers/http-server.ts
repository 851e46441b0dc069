import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** How a server misbehaves; `json` and `events` are the two ways to respond as the protocol has it. */
export type HttpManner = 'json' | 'events' | 'redirects' | 'silent' | 'flood' | 'page' | 'deep' | 'status-999';

export interface HttpToolServer {
  url: string;
  /** The headers of each request. */
  requests: IncomingMessage['headers'][];
  /** Sessions that were ended by their client. */
  ended: string[];
  close(): Promise<void>;
}

/** A tool server of the library over streamable HTTP, on 127.0.0.1. */
export async function startHttpToolServer(manner: HttpManner = 'events'): Promise<HttpToolServer> {
  const requests: IncomingMessage['headers'][] = [];
  const ended: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  const served = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (request.method === 'DELETE' && typeof id === 'string') {
      ended.push(id);
    }
    const transport = known ?? (await session(sessions, manner === 'json'));
    await transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => {
    requests.push(request.headers);
    const misbehave = hostile[manner];
    if (misbehave) {
      misbehave(request, response);
    } else {
      void served(request, response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    ended,
    async close() {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function session(
  sessions: Map<string, StreamableHTTPServerTransport>,
  enableJsonResponse: boolean,
): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => `session-${sessions.size}`,
    enableJsonResponse,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'http-server', version: '2' });
  server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => ({
    content: [{ type: 'text', text: `Echo: ${message}` }],
  }));
  await server.connect(transport);
  return transport;
}

const hostile: Partial<Record<HttpManner, (request: IncomingMessage, response: ServerResponse) => void>> = {
  redirects: (_request, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/stolen' }).end(),
  silent: () => undefined,
  page: (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  'status-999': (request) => void request.socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
  flood: (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = () => {
      while (response.write(`: ${'x'.repeat(65_536)}\n`)) {
        // Until the client reads no more.
      }
      response.once('drain', more);
    };
    more();
  },
  deep: (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: number };
      const result = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":{"deep":${result}}}`);
    });
  },
};
