import { createHash } from 'node:crypto';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import { cut } from '../../../platform/text/cut';
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

/** Calls tools through the board, for runs and for sessions; without a board it is refused. */
export function createToolCaller(board: BoardClient | undefined) {
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

  /** @returns where the call is, and how the board presents it where it has made it */
  async function call(input: ToolCallInput, waitMs: number): Promise<{ at: ToolCallProgress; made?: BoardToolCall }> {
    const { runId, stageId, operation, catalog, server, tool, arguments: values } = input;
    if (!board) {
      return { at: refusedCall('NO_BOARD', 'WORKFLOW_RUNS_BOARD_URL is not set.') };
    }
    const request = { stageId, catalogDigest: catalog, serverId: server, tool, arguments: values, waitMs };
    try {
      const made = await board.callTool(runId, { ...request, operationId: operationOf(operation) });
      return { at: progressOf(made), made };
    } catch (error) {
      if (error instanceof BoardRefusal && error.code === 'APPROVAL_REQUIRED' && error.approvalId !== undefined) {
        return { at: { state: 'approval', approvalId: error.approvalId, reason: error.message } };
      }
      if (error instanceof BoardRefusal && error.code === 'TOOL_CALL_PENDING') {
        return { at: { state: 'running' } };
      }
      return {
        at: isForNow(error)
          ? { state: 'waiting', reason: reasonOf(error) }
          : refusedCall((error as BoardRefusal).code, (error as BoardRefusal).message),
      };
    }
  }

  return { open, call };
}

/** What runs with tools have the board do. */
export function createToolActivities({ board, turns }: ToolDependencies): ToolActivities {
  const caller = createToolCaller(board);

  async function callOnce(input: ToolCallInput, waitMs: number): Promise<ToolCallProgress> {
    const { at, made } = await caller.call(input, waitMs);
    if (at.state === 'ended' && made) {
      await turns.put(input.runId, input.stageId, [turnOf(input, made)]);
    }
    return at;
  }

  return {
    openToolCatalog: (input) => withHeartbeat(() => caller.open(input)),

    callTool: (input) => awaitCall(callOnce, input),

    withdrawToolCall: ({ runId, approvalId }) =>
      withHeartbeat(async () => {
        await board?.withdrawToolCall(runId, approvalId);
      }),
  };
}

/** The board bounds the names of operations. */
const operationOf = (operation: string): string => createHash('sha256').update(operation).digest('hex');

/** Whether the same request may be answered later: the board is away, is asked too often, or has no worker. */
export const isForNow = (error: unknown): boolean =>
  !(error instanceof BoardRefusal) || error.status >= 500 || error.status === 429 || forNow.has(error.code);

/** Why the board does not do something, for people. */
export const reasonOf = (error: unknown): string =>
  error instanceof BoardRefusal
    ? `${error.code}: ${error.message}`
    : `The board does not answer: ${error instanceof Error ? error.message : String(error)}`;

/** How long a call took, from its sending, in milliseconds. */
export const tookMs = ({ dispatchedAt, endedAt }: BoardToolCall): number =>
  dispatchedAt !== undefined && endedAt !== undefined ? Date.parse(endedAt) - Date.parse(dispatchedAt) : 0;

function turnOf({ server, tool, arguments: values }: ToolCallInput, call: BoardToolCall) {
  const { id, result, error } = call;
  return {
    kind: 'tool' as const,
    tools: [
      {
        ...{ id, tool_name: `${server}/${tool}`, input: JSON.stringify(values), is_error: !result || result.isError },
        result: cut(JSON.stringify(result ?? error ?? null), shownCharacters),
        duration_ms: tookMs(call),
      },
    ],
  };
}
