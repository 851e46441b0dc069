import { defineSignal } from '@temporalio/workflow';

/** One execution at a time per goal. */
export const goalWorkflowId = (goalId: string): string => `goal/${goalId}`;

/** Something of the goal has changed: read it again. */
export const lookAtGoal = defineSignal('look');
