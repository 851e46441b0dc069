import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { maxOpenRuns } from '../../contracts/runs/workflows/run';
import { newWorkflowRun } from '../../stores/runs/workflows/new-run';
import { openRunStatuses, type WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import type { WorkflowStore } from '../../stores/runs/workflows/workflow-store';
import type { WorkflowRunClient } from '../../workflows/workflow-run/client';

export interface ScheduledWorkflowDependencies {
  workflows: Pick<WorkflowStore, 'get'>;
  workflowRuns: Pick<WorkflowRunStore, 'begin' | 'count' | 'get'>;
  workflowRunClient: Pick<WorkflowRunClient, 'start'>;
}

/** The run of one occurrence, however often it is started. */
function runOf(id: string, { occurrence, startedAt }: Occurrence): string {
  const digest = createHash('sha256').update(`${id}\n${occurrence}`).digest();
  let at = 0;
  return ulid(Date.parse(startedAt), () => (digest[at++ % digest.length] ?? 0) / 256);
}

/** One start by a Schedule: the run id of its workflow, and when that began. */
export interface Occurrence {
  occurrence: string;
  startedAt: string;
}

export function createScheduledWorkflowActivities(deps: ScheduledWorkflowDependencies) {
  const { workflows, workflowRuns, workflowRunClient } = deps;
  return {
    /**
     * Starts a run of the newest version, in the name of who wrote it, unless one has not ended. The same occurrence again is the
     * same run.
     *
     * @returns what came of it
     */
    async startScheduledRun({ id, ...occurrence }: Occurrence & { id: string }): Promise<string> {
      const runId = runOf(id, occurrence);
      const begun = await workflowRuns.get(runId);
      if (begun) {
        await workflowRunClient.start(begun);
        return `started: ${runId}`;
      }
      const workflow = await workflows.get(id);
      if (workflow?.definition.schedule === undefined || workflow.definition.schedule.enabled === false) {
        return 'skipped: the workflow has no schedule any more';
      }
      if ((await workflowRuns.count({ workflowIds: [id], statuses: openRunStatuses })) > 0) {
        return 'skipped: a run has not ended';
      }
      if ((await workflowRuns.count({ statuses: openRunStatuses })) >= maxOpenRuns) {
        return 'skipped: there are as many runs as there may be';
      }
      const made = newWorkflowRun(
        workflow,
        { id: runId, actor: workflow.updatedBy, at: new Date(occurrence.startedAt) },
        {},
      );
      if ('issues' in made) {
        return `skipped: ${made.issues.map(({ path, message }) => `${path} ${message}`).join('; ')}`.slice(0, 1_000);
      }
      await workflowRunClient.start(await workflowRuns.begin(made));
      return `started: ${runId}`;
    },
  };
}
export type ScheduledWorkflowActivities = ReturnType<typeof createScheduledWorkflowActivities>;
