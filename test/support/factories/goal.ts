import type { GoalCreate } from '../../../contracts/governance/goals/changes';
import { goalCreate } from '../../../contracts/governance/goals/changes';
import type { Goal } from '../../../contracts/governance/goals/goal';
import { newGoal } from '../../../domain/goals/create';
import { at, taskId as someTask } from './records';

/** The body that creates a goal of a task, with one requirement that runs can prove. */
export const aGoal = (taskId: string, fields: object = {}) => ({
  objective: 'The importer reads every file of the archive',
  acceptanceCriteria: ['All tests pass'],
  root: { kind: 'task' as const, taskId },
  completionRequirements: [{ id: 'tests', description: 'The tests pass', verificationKind: 'test' as const }],
  ...fields,
});

/** A stored goal. */
export const aStoredGoal = (fields: Partial<Goal> = {}, body: Partial<GoalCreate> = {}): Goal => ({
  ...newGoal(goalCreate.parse(aGoal(someTask, body)), {
    id: 'goal_0123456789ab',
    workspaceId: 'local',
    actor: 'user:ada',
    at: at(0),
  }),
  ...fields,
});
