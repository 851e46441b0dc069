import { provenWorkflows } from '../../platform/temporal/activity-proof';
import type { ActivityCaller } from '../../platform/temporal/workers/activity-fence';
import type { createWorkflowRunsActivities } from './activities';
import { runWorkflowId } from './runs/execution/messages';

const run: ActivityCaller = { workflows: ['workflowRun'], workflowId: ({ runId }) => runWorkflowId(runId ?? '') };
const session: ActivityCaller = { workflows: ['sessionGeneration'] };

/** The workflows that schedule each activity; none may be scheduled by itself. */
export const activityCallers: Record<keyof ReturnType<typeof createWorkflowRunsActivities>, ActivityCaller> = {
  signActivity: { workflows: provenWorkflows },
  saveRun: run,
  runPrompt: run,
  verifyMessage: run,
  loadContinuation: run,
  prepareContinuation: run,
  deleteContinuation: run,
  assignWorkspace: run,
  runCommand: run,
  launchAgent: run,
  readAgent: run,
  awaitAgent: run,
  storeAgentTurns: run,
  stopAgent: run,
  runPromptTurn: run,
  recordToolResult: run,
  openToolCatalog: run,
  callTool: run,
  withdrawToolCall: run,
  openChildRun: run,
  readChildRun: run,
  pauseChildRuns: run,
  cancelChildRuns: run,
  steerChildRuns: run,
  reportToParent: run,
  readTreeUsage: run,
  runEnded: { workflows: ['workflowRun'] },
  startQueued: { workflows: ['workflowRunDispatch'] },
  acceptMessage: session,
  answerMessage: session,
  callSessionTool: session,
  tellFailure: session,
};
