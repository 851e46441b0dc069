import type { ProvenMessage } from '../crypto/message-proof';

/** The header of an activity with the proof that our own workflow code has scheduled it. */
export const activityProofHeader = 'runboard-activity-proof';

/**
 * Types of workflows whose activities act on what is in their input. Any client of Temporal can schedule one by a
 * workflow of one of these names, with any input; only the workers have the key.
 */
export const provenWorkflows: readonly string[] = ['workflowRun', 'sessionGeneration'];

/** An activity that a workflow is about to schedule. */
export interface ScheduledActivity {
  activityType: string;
  args: unknown[];
}

/** The execution that schedules it. */
export interface SchedulingExecution {
  workflowId: string;
  runId: string;
}

/** What is proven: this activity with this input, of this execution and of no other. */
export const activityMessage = (
  { workflowId, runId }: SchedulingExecution,
  { activityType, args }: ScheduledActivity,
): ProvenMessage => ({
  purpose: 'schedule-activity',
  subject: `${workflowId}/${runId}`,
  actor: 'system:workflow',
  body: { activityType, args },
});
