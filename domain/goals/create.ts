import type { GoalCreate } from '../../contracts/governance/goals/changes';
import type { Goal } from '../../contracts/governance/goals/goal';
import { noGoalUsage } from './usage';

/** A goal of which nothing was done yet. */
export const newGoal = (
  body: GoalCreate,
  { id, workspaceId, actor, at }: { id: string; workspaceId: string; actor: string; at: string },
): Goal => ({
  schemaVersion: 'durable-goal/v1',
  id,
  workspaceId,
  ...body,
  state: 'active',
  revision: 1,
  usage: noGoalUsage,
  usageEvents: [],
  currentRun: null,
  continuationChain: [],
  continuationAttempts: [],
  awaiting: null,
  blockers: [],
  completionEvidence: [],
  transitions: [],
  terminalReason: null,
  createdBy: actor,
  createdAt: at,
  updatedAt: at,
});
