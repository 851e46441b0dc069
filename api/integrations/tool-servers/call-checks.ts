import type { ToolCatalog } from '../../../contracts/integrations/tool-catalog';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { hasRunningAgent } from '../../../stores/runs/launch/launch-parent';
import type { WorkflowContext } from '../../context';

/** @throws AppError 409 `RUN_ENDED`, `RUN_NOT_RUNNING` when the attempt has no running agent */
export function assertRunning(record: AttemptRecord): void {
  if (hasRunningAgent(record)) {
    return;
  }
  const { _id: attemptId, state, completion } = record;
  const ended = completion !== undefined || state === 'ended' || state === 'refused';
  throw ended
    ? conflict('The run has ended; its tools can be called no more.', { attemptId, state }, 'RUN_ENDED')
    : conflict('The attempt has no running agent.', { attemptId, state }, 'RUN_NOT_RUNNING');
}

/** The catalog of an attempt. @throws AppError 404 when it was launched without tools */
export async function catalogOf(
  { toolCatalogs }: Pick<WorkflowContext, 'toolCatalogs'>,
  attemptId: string,
): Promise<ToolCatalog> {
  const catalog = await toolCatalogs.get(attemptId);
  if (!catalog) {
    throw new AppError('NOT_FOUND', {
      status: 404,
      message: `The attempt ${attemptId} has no tool catalog: it was launched without tool servers.`,
      details: { attemptId },
    });
  }
  return catalog;
}
