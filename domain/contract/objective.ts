import type { TaskEnvelope } from '../../contracts/runs/launch/contract';
import { sectionLimit } from '../../contracts/settings/profile';
import type { Repository } from '../../contracts/settings/repository';
import type { Task } from '../../contracts/tasks/task';
import { createRedactor } from '../../platform/log/redact';

/** The fields of a task in its contract, captured at admission so that later edits of the task change nothing. */
export interface Objective extends Pick<TaskEnvelope, 'expectedOutputs'> {
  title: string;
  description: string;
  subtasks: TaskEnvelope['objective']['subtasks'];
  /** What the task allows; `null` when it does not state it. */
  allowedSideEffects: TaskEnvelope['allowedSideEffects'] | null;
  context: TaskEnvelope['context'];
  gates: TaskEnvelope['gates'];
  /** Set where the task lets a run succeed that changed nothing and reported nothing. */
  allowEmptyResult?: true;
  /** The state stored by an earlier run, as JSON; `null` when there is none. */
  checkpoint: string | null;
  /** What was changed on the way, as sentences for a person. */
  notes: string[];
}

/** The most gates that are listed. */
const maxGates = 256;

const redact = createRedactor();

/** The beginning of a text, as long as a section may be; never half of a pair of code units. */
export const cutSection = (text: string): string =>
  text.length <= sectionLimit ? text : text.slice(0, sectionLimit).replace(/[\ud800-\udbff]$/, '');

/** Cuts texts to a section's limit and takes secrets out of them, and remembers where it did. */
class Excerpts {
  readonly notes: string[] = [];

  text(field: string, value: string): string {
    const clean = redact(value);
    if (clean !== value) {
      this.notes.push(`${field}: what looks like a secret was taken out`);
    }
    const shortened = cutSection(clean);
    if (shortened.length < clean.length) {
      this.notes.push(`${field}: cut to ${sectionLimit} characters`);
    }
    return shortened;
  }
}

export function objectiveOf(task: Task): Objective {
  const excerpts = new Excerpts();
  const captured = {
    title: excerpts.text('title', task.title),
    description: excerpts.text('description', task.description),
    subtasks: task.subtasks.map(({ id, title, completed }) => ({
      id,
      title: excerpts.text(`subtasks.${id}`, title),
      completed,
    })),
    allowedSideEffects: task.executionPolicy?.allowedSideEffects ?? null,
    expectedOutputs: task.executionPolicy?.expectedOutputs ?? [],
    context: {
      type: task.type,
      priority: task.priority,
      project: task.project ?? null,
      sprint: task.sprint ?? null,
      plan: excerpts.text('plan', task.plan ?? ''),
    },
    gates: gatesOf(task, excerpts),
    checkpoint: checkpointOf(task, excerpts),
    ...(task.executionPolicy?.allowEmptyResult === true ? { allowEmptyResult: true as const } : {}),
  };
  return { ...captured, notes: excerpts.notes };
}

/** The acceptance criteria of subtasks and the verification steps of the task. */
function gatesOf(task: Task, excerpts: Excerpts): TaskEnvelope['gates'] {
  const criteria = task.subtasks.flatMap(({ id, acceptanceCriteria = [] }) =>
    acceptanceCriteria.map((description, index) => ({
      id: `${id}.${index}`,
      kind: 'acceptance-criterion' as const,
      description: excerpts.text(`subtasks.${id}.${index}`, description),
    })),
  );
  const verification = (task.verificationSteps ?? []).map(({ id, description, required, checked }) => ({
    id,
    kind: 'verification-step' as const,
    description: excerpts.text(`verificationSteps.${id}`, description),
    ...(required === true && !checked ? { required: true as const } : {}),
  }));
  return [...verification, ...criteria].slice(0, maxGates);
}

function checkpointOf({ checkpoint }: Task, excerpts: Excerpts): string | null {
  if (!checkpoint?.state) {
    return null;
  }
  return excerpts.text('checkpoint', JSON.stringify({ step: checkpoint.step, state: checkpoint.state }, null, 2));
}

/** The branch a run of the task works on. */
export const branchOf = ({ id, git }: Pick<Task, 'id' | 'git'>): string => git?.branch ?? `board/${id}`;

/** The branch a run of the task works on, and the one it begins from. */
export const gitTargetOf = ({ id, git }: Task, repository: Repository): { branch: string; baseBranch: string } => ({
  branch: branchOf({ id, git }),
  baseBranch: git?.baseBranch ?? repository.defaultBranch,
});
