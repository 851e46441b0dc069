import type { Goal, GoalRun } from '../../contracts/governance/goals/goal';
import { goalLimits } from '../../domain/goals/limits';
import { hasRun, kindBelow, withRun } from '../../domain/goals/runs';
import type { GoalStore } from '../../stores/governance/goal-store';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { TreeRecord, TreeStore } from '../../stores/runs/admission/tree-store';

export interface MemberSources {
  requests: Pick<AdmissionRequestStore, 'get'>;
  trees: Pick<TreeStore, 'get'>;
}

/** The execution tree that an attempt is in; none for one that was never admitted. */
async function treeOf({ requests, trees }: MemberSources, attemptId: string): Promise<TreeRecord | undefined> {
  const request = await requests.get(attemptId);
  return request && trees.get(request.rootObjectiveId);
}

/** The goal that the run is of, or a run above it in its execution tree. */
export async function goalOfRun(
  { goals, ...sources }: MemberSources & { goals: Pick<GoalStore, 'goalOf'> },
  attemptId: string,
): Promise<string | undefined> {
  const own = await goals.goalOf(attemptId);
  if (own !== undefined) {
    return own;
  }
  const tree = await treeOf(sources, attemptId);
  const seen = new Set<string>();
  for (let at = tree?.nodes[attemptId]?.parent; at && !seen.has(at); at = tree?.nodes[at]?.parent) {
    seen.add(at);
    const goalId = await goals.goalOf(at);
    if (goalId !== undefined) {
      return goalId;
    }
  }
  return undefined;
}

/**
 * The runs below those of the goal that it does not have yet, parents first; as many as it has room for. A run that another goal
 * has is that one's, with everything below it.
 */
export async function runsBelow(
  { goals, ...sources }: MemberSources & { goals: Pick<GoalStore, 'goalOf'> },
  goal: Goal,
): Promise<GoalRun[]> {
  const trees = new Map<string, TreeRecord>();
  for (const { attemptId } of goal.continuationChain) {
    const tree = [...trees.values()].find(({ nodes }) => nodes[attemptId]) ?? (await treeOf(sources, attemptId));
    if (tree) {
      trees.set(tree._id, tree);
    }
  }
  let all = goal;
  const found: GoalRun[] = [];
  const nodes = [...trees.values()].flatMap((tree) => Object.entries(tree.nodes));
  for (const [attemptId, { parent, edge, taskId, at }] of nodes.sort(([, a], [, b]) => a.depth - b.depth)) {
    const above = all.continuationChain.find((run) => run.attemptId === parent);
    const isRoom = all.continuationChain.length < goalLimits.runs;
    if (!above || !isRoom || hasRun(all, attemptId) || isPlanned(goal, attemptId)) {
      continue;
    }
    if (((await goals.goalOf(attemptId)) ?? goal.id) !== goal.id) {
      continue;
    }
    const kind = kindBelow(above.kind, edge);
    const run: GoalRun = { taskId, attemptId, kind, parentAttemptId: above.attemptId, linkedAt: at };
    found.push(run);
    all = withRun(all, run);
  }
  return found;
}

/** Whether the run is a continuation of the goal, which joins it when it was dispatched. */
const isPlanned = ({ continuationAttempts }: Goal, attemptId: string): boolean =>
  continuationAttempts.some((attempt) => attempt.attemptId === attemptId);
