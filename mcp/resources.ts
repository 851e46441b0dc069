import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { type BoardClient, unwrap } from '../clients/typescript/src';
import { attemptId, taskId } from '../contracts/common';

/** How many tasks are listed as resources, the most recently changed: the tool `list_tasks` has all of them. */
const listedTasks = 50;
/** How many of the last events a log has. */
const loggedEvents = 500;

const contentsOf = (uri: URL, mimeType: string, text: string): ReadResourceResult => ({
  contents: [{ uri: uri.href, mimeType, text }],
});

/** Tasks as JSON, and logs of runs as markdown, for clients that show them to people. */
export function addResources(server: McpServer, board: BoardClient): void {
  server.registerResource(
    'task',
    new ResourceTemplate('runboard://tasks/{taskId}', {
      list: async ({ signal }) => {
        const query = { limit: listedTasks };
        const { tasks } = await unwrap(board.GET('/api/tasks', { params: { query }, signal }));
        return {
          resources: tasks.map(({ id, title, status }) => ({
            ...{ uri: `runboard://tasks/${id}`, name: id, title, description: status, mimeType: 'application/json' },
          })),
        };
      },
    }),
    { title: 'Task', description: 'A task of the board with all its fields', mimeType: 'application/json' },
    async (uri, variables, { signal }) => {
      const path = { taskId: taskId.parse(variables.taskId) };
      const task = await unwrap(board.GET('/api/tasks/{taskId}', { params: { path }, signal }));
      return contentsOf(uri, 'application/json', JSON.stringify(task, undefined, 2));
    },
  );
  server.registerResource(
    'run-log',
    new ResourceTemplate('runboard://tasks/{taskId}/runs/{attemptId}/log', { list: undefined }),
    { title: 'Log of a run', description: `The last ${loggedEvents} events of a run`, mimeType: 'text/markdown' },
    async (uri, variables, { signal }) => {
      const path = { taskId: taskId.parse(variables.taskId), attemptId: attemptId.parse(variables.attemptId) };
      const log = await unwrap(
        board.GET('/api/agents/{taskId}/attempts/{attemptId}/log', {
          ...{ params: { path, query: { last: loggedEvents } }, parseAs: 'text', signal },
        }),
      );
      return contentsOf(uri, 'text/markdown', log);
    },
  );
}
