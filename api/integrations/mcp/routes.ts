import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { z } from 'zod';
import { createBoardClient } from '../../../clients/typescript/src';
import { createBoardServer } from '../../../mcp/server';
import { validationError } from '../../../platform/errors/app-error';
import { parseJsonRpc } from '../../../platform/http/body/json-rpc';
import { emptyResponse, RawJson } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

/** The most messages of a batch, which clients of earlier versions of the protocol may send. */
const maxBatch = 20;

/** Calls stay within the process: the address is not looked up, and names the origin of relative paths only. */
const withinProcess = 'http://board.invalid';

/**
 * The board as a server of the Model Context Protocol, over streamable HTTP without state: each message is answered by a server of
 * its own, whose tools call the operations of this API as the caller.
 */
export function mcpRoutes(routes: Routes, { innerRequests }: Pick<ApiContext, 'innerRequests'>): void {
  routes.add(
    {
      mount: 'root',
      method: 'post',
      path: '/mcp',
      tag: 'mcp',
      permission: 'task:read',
      relays: true,
      operationId: 'messageBoard',
      summary: 'Send a message of the Model Context Protocol to the tools of the board',
      // Requests of the protocol have ids of their own, and its tools take keys.
      idempotency: 'none',
      rawBody: true,
      query: z.strictObject({ tools: z.enum(['all', 'read-only']).default('all') }),
      response: z.unknown(),
      errors: [406],
    },
    async ({ query, rawBody }, ctx) => {
      const body = messageOf(await rawBody());
      const board = createBoardClient({ url: withinProcess, fetch: innerRequests.sendFor(ctx.req) });
      const server = createBoardServer({ board, readOnly: query.tools === 'read-only' });
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      try {
        const headers = new Headers(
          Object.entries(ctx.req.headers).map(([name, value]) => [name, String(value)] as [string, string]),
        );
        const request = new Request(`${withinProcess}/mcp`, { method: 'POST', headers });
        const response = await transport.handleRequest(request, { parsedBody: body });
        ctx.status = response.status;
        // A notification has no response.
        const answer = Buffer.from(await response.arrayBuffer());
        return answer.length > 0 ? new RawJson(answer) : emptyResponse();
      } finally {
        await server.close();
      }
    },
  );
}

/** @throws AppError 400 for what is no JSON, nested deeper or wider than any message, or too many of them */
function messageOf(body: Buffer): unknown {
  const message = parseJsonRpc(body);
  if (Array.isArray(message) && (message.length === 0 || message.length > maxBatch)) {
    throw validationError([{ path: '', message: `must be one message, or 1 to ${maxBatch} of them` }]);
  }
  return message;
}
