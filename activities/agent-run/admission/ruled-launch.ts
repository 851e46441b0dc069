import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Board } from '../../../stores/board-files/board';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RuledLaunch } from '../../../stores/runs/launch/launch-rules';

/** A recorded launch as rules see it. */
export async function ruledLaunch(
  { board }: { board: Pick<Board, 'get'> },
  { _id, taskId, agent, phase, request, createdBy }: AttemptRecord,
  { source, parentNodeId }: AdmissionRequest,
): Promise<RuledLaunch> {
  return {
    attemptId: _id,
    taskId,
    project: (await board.get(taskId))?.task.project,
    agent,
    phase,
    request,
    source,
    parentAttemptId: parentNodeId ?? undefined,
    actor: createdBy,
  };
}
