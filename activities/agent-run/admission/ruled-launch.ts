import type { Task } from '../../../contracts/tasks/task';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RuledLaunch } from '../../../stores/runs/launch/launch-rules';

/** A recorded launch as rules see it. */
export const ruledLaunch = (
  { _id, taskId, agent, phase, request, createdBy }: AttemptRecord,
  { source, parentNodeId, rootObjectiveId }: AdmissionRequest,
  task: Pick<Task, 'project'> | undefined,
): RuledLaunch => ({
  attemptId: _id,
  taskId,
  project: task?.project,
  agent,
  phase,
  request,
  source,
  parentAttemptId: parentNodeId ?? undefined,
  actor: createdBy,
  tree: rootObjectiveId,
});
