import { ApplicationFailure } from '@temporalio/activity';
import type { ModelRequest } from '../../../../platform/models/request';
import { type BoardClient, BoardRefusal } from '../../board/board-client';
import { isForNow, reasonOf } from '../../board/tools';
import { type OfferedTool, offeredTools } from '../../runs/talks/offered-tools';
import type { SessionTools } from '../session';

/** The failure type of a session whose tools cannot be offered or called. */
export const toolsFailed = 'TOOLS';

export interface OpenedTools {
  /** Of the catalog that they are in. */
  digest: string;
  offered: OfferedTool[];
  tools: NonNullable<ModelRequest['tools']>;
}

/**
 * The tools that the model of a session is offered, of a catalog that is opened once and never changes.
 *
 * @returns why the board cannot be asked now
 * @throws ApplicationFailure `TOOLS` when they never can be offered
 */
export async function openTools(
  board: BoardClient | undefined,
  { owner, servers, offers }: SessionTools,
): Promise<OpenedTools | { waiting: string }> {
  if (!board) {
    throw failure('Tools are not called here: WORKFLOW_RUNS_BOARD_URL is not set.');
  }
  try {
    const catalog = await board.openToolCatalog(owner, servers);
    return { digest: catalog.digest, ...offeredTools(catalog.servers, offers) };
  } catch (error) {
    if (isForNow(error)) {
      return { waiting: reasonOf(error) };
    }
    throw error instanceof BoardRefusal ? failure(reasonOf(error)) : error;
  }
}

const failure = (message: string) => ApplicationFailure.create({ type: toolsFailed, message, nonRetryable: true });
