import { createHash } from 'node:crypto';
import type { TaskCreate } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import type { Board } from '../../stores/board-files/board';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { requireAllowed } from '../../stores/governance/require-allowed';
import type { DeliverableRunRecord } from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableRecord } from '../../stores/runs/schedules/scheduled-deliverable-store';

interface Dependencies {
  board: Pick<Board, 'create' | 'get'>;
  rules: DecisionPoint;
}

/**
 * Creates the task of a run in the name of its starter, by the rules of now; an earlier try may have.
 *
 * @returns why it was refused, if it was
 */
export async function createRunTask(
  { board, rules }: Dependencies,
  run: DeliverableRunRecord,
  definition: ScheduledDeliverableRecord,
): Promise<{ taskId: string } | { error: string }> {
  const taskId = taskOf(run);
  if (await board.get(taskId)) {
    return { taskId };
  }
  const input = inputOf(run, definition);
  const { startedBy: actor } = run;
  try {
    const { project, title } = input;
    await requireAllowed(rules, { action: 'create-task', actor, project, subject: { ...input }, change: title });
    await board.create(input, { actor, id: taskId });
  } catch (error) {
    if (!(error instanceof AppError) || error.status === 503) {
      throw error;
    }
    // A deleted task has its id for as long as it can be restored.
    return { error: `${error.code}: ${error.message}`.slice(0, 2_000) };
  }
  return { taskId };
}

const taskOf = ({ _id, startedAt }: DeliverableRunRecord): string =>
  `task_${startedAt.slice(0, 10).replaceAll('-', '')}_${createHash('sha256').update(_id).digest('hex').slice(0, 8)}`;

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
