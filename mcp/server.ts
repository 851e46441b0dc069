import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { BoardClient } from '../clients/typescript/src';
import { version } from '../package.json';
import { addPrompts } from './prompts';
import { addResources } from './resources';
import { refusalResult, resultOf } from './results';
import { boardTools } from './tools';

export interface BoardServerOptions {
  board: BoardClient;
  /** Only tools that change nothing are offered. */
  readOnly?: boolean;
}

/** More members than any argument of the tools has. */
const maxToolInputElements = 5_000;

/**
 * The board as a server of the Model Context Protocol. It does what the API does for the same caller, by the same rules, and
 * holds nothing of its own: each connection, or each message of a connection without state, may have a new one.
 */
export function createBoardServer({ board, readOnly = false }: BoardServerOptions): McpServer {
  const server = new McpServer({ name: 'runboard', title: 'Runboard', version }, { maxToolInputElements });
  for (const { name, title, description, input, annotations, call } of boardTools) {
    if (readOnly && !annotations.readOnlyHint) {
      continue;
    }
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations: { title, ...annotations } },
      async (values, { signal }) => {
        try {
          // The server has validated the arguments by the schema of the tool.
          return resultOf(await call({ board, signal }, values as never));
        } catch (error) {
          return refusalResult(error);
        }
      },
    );
  }
  addResources(server, board);
  addPrompts(server, board);
  return server;
}
