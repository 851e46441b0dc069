import { createHash } from 'node:crypto';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { StageMessageStore } from '../runs/execution/turns';
import { awaitCall } from '../runs/stages/await-tool';
import type { ToolActivities, ToolCallInput, ToolCallProgress, ToolCatalogState } from '../runs/stages/tool-messages';
import { progressOf, refusedCall } from '../runs/stages/tool-output';
import { type BoardClient, BoardRefusal, type BoardToolCall } from './board-client';

/** So much of what a tool responds is in the turns of its stage, in characters. */
const shownCharacters = 200_000;

/** What the board refuses that it may take later. */
const forNow: ReadonlySet<string> = new Set([...['HOST_UNAVAILABLE', 'DISCOVERY_PENDING', 'DISCOVERY_UNFINISHED']]);

export interface ToolDependencies {
  /** Absent where no tools are called. */
  board?: BoardClient | undefined;
  turns: StageMessageStore;
}

/** What runs with tools have the board do. */
export function createToolActivities({ board, turns }: ToolDependencies): ToolActivities {
  async function open({ runId, servers }: { runId: string; servers: string[] }): Promise<ToolCatalogState> {
    if (!board) {
      return { failed: 'Tools are not called here: WORKFLOW_RUNS_BOARD_URL is not set.' };
    }
    try {
      return { digest: (await board.openToolCatalog(runId, servers)).digest };
    } catch (error) {
      return isForNow(error) ? { waiting: reasonOf(error) } : { failed: reasonOf(error) };
    }
  }

  async function call(input: ToolCallInput, waitMs: number): Promise<ToolCallProgress> {
    const { runId, stageId, operation, catalog, server, tool, arguments: values } = input;
    if (!board) {
      return refusedCall('NO_BOARD', 'WORKFLOW_RUNS_BOARD_URL is not set.');
    }
    const request = { stageId, catalogDigest: catalog, serverId: server, tool, arguments: values, waitMs };
    try {
      const made = await board.callTool(runId, { ...request, operationId: operationOf(operation) });
      const progress = progressOf(made);
      if (progress.state === 'ended') {
        await turns.put(runId, stageId, [turnOf(input, made)]);
      }
      return progress;
    } catch (error) {
      if (error instanceof BoardRefusal && error.code === 'APPROVAL_REQUIRED' && error.approvalId !== undefined) {
        return { state: 'approval', approvalId: error.approvalId, reason: error.message };
      }
      if (error instanceof BoardRefusal && error.code === 'TOOL_CALL_PENDING') {
        return { state: 'running' };
      }
      return isForNow(error)
        ? { state: 'waiting', reason: reasonOf(error) }
        : refusedCall((error as BoardRefusal).code, (error as BoardRefusal).message);
    }
  }

  return {
    openToolCatalog: (input) => withHeartbeat(() => open(input)),

    callTool: (input) => awaitCall(call, input),

    withdrawToolCall: ({ runId, approvalId }) =>
      withHeartbeat(async () => {
        await board?.withdrawToolCall(runId, approvalId);
      }),
  };
}

/** The board bounds the names of operations. */
const operationOf = (operation: string): string => createHash('sha256').update(operation).digest('hex');

/** Whether the same request may be answered later: the board is away, is asked too often, or has no worker. */
const isForNow = (error: unknown): boolean =>
  !(error instanceof BoardRefusal) || error.status >= 500 || error.status === 429 || forNow.has(error.code);

const reasonOf = (error: unknown): string =>
  error instanceof BoardRefusal
    ? `${error.code}: ${error.message}`
    : `The board does not answer: ${error instanceof Error ? error.message : String(error)}`;

function turnOf({ server, tool, arguments: values }: ToolCallInput, { id, result, error, ...call }: BoardToolCall) {
  const { dispatchedAt, endedAt } = call;
  const took = dispatchedAt !== undefined && endedAt !== undefined ? Date.parse(endedAt) - Date.parse(dispatchedAt) : 0;
  return {
    kind: 'tool' as const,
    tools: [
      {
        ...{ id, tool_name: `${server}/${tool}`, input: JSON.stringify(values), is_error: !result || result.isError },
        result: JSON.stringify(result ?? error ?? null).slice(0, shownCharacters),
        duration_ms: took,
      },
    ],
  };
}
