import type { Capacity, LaunchSource, TreeEdge, WorkflowBinding } from '../../contracts/runs/admission';
import { compact } from '../../platform/json/compact';
import type { ScopeIds } from './capacity';

/** What one launch requests of admission; fixed when it is first decided, and the same in everything that follows. */
export interface AdmissionRequest extends ScopeIds {
  version: 1;
  attemptId: string;
  taskId: string;
  agent: string;
  phase: string;
  source: LaunchSource;
  edge: TreeEdge;
  nodeId: string;
  parentNodeId: string | null;
  /** 0 for the root of a tree. */
  depth: number;
  priority: number;
  requested: Capacity;
  workflowRunId?: string;
  workflowStepId?: string;
  rootReservationId?: string;
  requestedAt: string;
}

/** The step of the workflow run that requested it, if one did. */
export function workflowOf({
  workflowRunId,
  workflowStepId,
  rootReservationId,
}: Pick<AdmissionRequest, 'workflowRunId' | 'workflowStepId' | 'rootReservationId'>): WorkflowBinding | undefined {
  if (workflowRunId === undefined) {
    return undefined;
  }
  return {
    runId: workflowRunId,
    ...(workflowStepId === undefined ? {} : { stepId: workflowStepId }),
    ...compact({ rootReservationId }),
  };
}

/** The task's own priority as a level of the queue; `fallback` for one the levels do not know. */
export function queuePriority(taskPriority: string | undefined, levels: number, fallback: number): number {
  const rank = ['low', 'medium', 'high', 'critical'].indexOf(taskPriority ?? '');
  return Math.min(levels - 1, rank < 0 ? fallback : rank);
}
