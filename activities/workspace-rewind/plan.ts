import type { Refusal } from '../../contracts/refusal';
import type { RewoundPath, WorkspaceRewind } from '../../contracts/runs/rewind';
import type { Plan } from '../../domain/checkpoints/rewind-plan';
import { refusal } from '../../domain/refusal';
import type { RewindPlanInput } from '../../workflows/workspace-rewind/messages';

/** The most paths that a refusal names, and that a record lists. */
export const maxNamed = 50;
export const maxListed = 1_000;

/** The paths of a plan that decides on each of them; why nothing can be done by another one. */
export function decidedPaths(plan: Plan): { paths: RewoundPath[] } | Refusal {
  if ('unknown' in plan) {
    return refusal('REWIND_PATH_UNKNOWN', 'These paths would not change.', { paths: plan.unknown.slice(0, maxNamed) });
  }
  if ('unresolved' in plan) {
    const paths = plan.unresolved.map(({ path, attribution, conflict }) => ({ path, attribution, conflict }));
    return refusal('REWIND_CONFLICT', 'These paths have changes of others than the agent: decide on each of them.', {
      paths: paths.slice(0, maxNamed),
      pathCount: paths.length,
    });
  }
  return plan;
}

/** The record of a rewind that has been planned, and nothing else yet. */
export const plannedRewind = (
  input: RewindPlanInput,
  { paths, ...situation }: Pick<WorkspaceRewind, 'before' | 'target' | 'turn' | 'paths'>,
  at: string,
): WorkspaceRewind => ({
  schemaVersion: 'workspace-rewind/v1',
  id: input.rewindId,
  taskId: input.taskId,
  attemptId: input.attemptId,
  requestId: input.requestId,
  requestDigest: input.requestDigest,
  targetCheckpointId: input.targetCheckpointId,
  descendantCheckpointId: input.descendantCheckpointId,
  state: 'planned',
  approvalId: null,
  ...situation,
  // Paths that are not simply restored come first: what is not listed is accepted.
  paths: paths
    .toSorted((a, b) => Number(a.decision === 'accept') - Number(b.decision === 'accept'))
    .slice(0, maxListed),
  pathCount: paths.length,
  keptRef: null,
  checkpointId: null,
  leftBehind: [],
  thread: null,
  createdBy: input.actor,
  createdAt: at,
  updatedAt: at,
});
