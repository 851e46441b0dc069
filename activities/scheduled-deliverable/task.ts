import type { TaskCreate } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import type { DeliverableRunRecord } from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableRecord } from '../../stores/runs/schedules/scheduled-deliverable-store';
import { createTaskOnce, type OnceLaunchDependencies, taskIdOf } from '../shared/launch-once';

/**
 * Creates the task of a run in the name of its starter, by the rules of now; an earlier try may have.
 *
 * @returns why it was refused, if it was
 */
export async function createRunTask(
  deps: Pick<OnceLaunchDependencies, 'board' | 'rules'>,
  run: DeliverableRunRecord,
  definition: ScheduledDeliverableRecord,
): Promise<{ taskId: string } | { error: string }> {
  const { _id: runId, startedAt, startedBy: actor } = run;
  const input = inputOf(run, definition);
  const created = await createTaskOnce(deps, { taskId: taskIdOf(startedAt, runId), input, actor });
  return 'error' in created ? { error: cut(created.error, 2_000) } : created;
}

function inputOf(
  { _id: runId, startedAt, deliverableId }: DeliverableRunRecord,
  { name, description, outputPath, agent, project, repo }: ScheduledDeliverableRecord,
): TaskCreate & { title: string } {
  const output = outputPath === undefined ? [] : [`Write the result to \`${outputPath}\`.`];
  const about = `Run \`${runId}\` of the scheduled deliverable \`${deliverableId}\`.`;
  return {
    title: `${name} (${startedAt.slice(0, 10)})`,
    description: [description, ...output, about].filter((part) => part !== '').join('\n\n'),
    ...compact({ agent, project, git: repo === undefined ? undefined : { repo } }),
  };
}
