import { type Reflection, taskLesson } from '../../../contracts/knowledge/reflection';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Board } from '../../../stores/board-files/types';
import type { ReflectionDecision, ReflectionStore } from '../../../stores/knowledge/reflection-store';
import { assertNotArchived } from '../../tasks/tasks/locations';
import { withLesson } from './lesson';

type Review = NonNullable<ReflectionDecision['review']>;

export interface Acceptance {
  id: string;
  /** Another target than was proposed. */
  promotionTarget: string | undefined;
  review: Review;
  /** What the request itself states of the review. */
  stated: readonly ('reviewedBy' | 'reviewerNote')[];
  /** Who writes the lesson into the task. */
  actor: string;
}

interface Deps {
  board: Pick<Board, 'get' | 'update'>;
  reflections: Pick<ReflectionStore, 'get' | 'decide' | 'promoted'>;
}

/** @throws AppError 409 with the present reflection when another decision was made about it */
export function alreadyDecided(reflection: Reflection): never {
  throw conflict(`The reflection is already ${reflection.status}.`, {
    resourceType: 'reflection',
    resourceId: reflection.id,
    current: reflection,
  });
}

/**
 * Accepts a reflection. For a task lesson there are three steps, in this order: the decision, with the lesson pending; the
 * lesson, in one step with the note that the task has it; and the note that it is written. The decision is first, so that a
 * lesson is never in a task whose reflection was rejected meanwhile. A process that dies between any two leaves a reflection
 * that is accepted with its lesson pending: the same request again resumes there, and does no step twice.
 *
 * @throws AppError 400 for a lesson without a task, 404, 409 when another decision was made or the task cannot take it
 */
export async function accept({ board, reflections }: Deps, acceptance: Acceptance): Promise<Reflection> {
  const { id, promotionTarget, review, stated, actor } = acceptance;
  const reflection = await reflections.get(id);
  assertFound(reflection, 'reflection', id);
  const target = promotionTarget ?? reflection.promotionTarget;
  if (reflection.status === 'accepted') {
    return again(reflection);
  }
  if (reflection.status !== 'pending') {
    alreadyDecided(reflection);
  }
  // What would refuse the lesson refuses the decision.
  if (target === taskLesson) {
    await assertCapacity(reflection);
  }
  const promotion = target === taskLesson ? 'pending' : 'manual';
  const decided = await reflections.decide(id, ['pending'], {
    status: 'accepted',
    promotionTarget: target,
    promotion,
    review,
  });
  if (decided) {
    return promote(decided);
  }
  const meanwhile = await reflections.get(id);
  return meanwhile?.status === 'accepted' ? again(meanwhile) : alreadyDecided(meanwhile ?? reflection);

  /** Repeats an acceptance, unless the request states another one than was recorded. */
  function again(accepted: Reflection): Promise<Reflection> {
    const isSame =
      accepted.promotionTarget === target && stated.every((field) => accepted.review?.[field] === review[field]);
    return isSame ? promote(accepted) : alreadyDecided(accepted);
  }

  async function assertCapacity(reflection: Reflection): Promise<void> {
    const { taskId } = reflection.source;
    if (taskId === undefined) {
      throw validationError([
        { path: 'promotionTarget', message: `${taskLesson} needs a reflection with source.taskId` },
      ]);
    }
    const task = await board.get(taskId);
    assertFound(task, 'task', taskId);
    assertNotArchived(task.task, task.location);
    withLesson(task.task, reflection);
  }

  async function promote(accepted: Reflection): Promise<Reflection> {
    const { taskId } = accepted.source;
    if (accepted.promotion !== 'pending' || taskId === undefined) {
      return accepted;
    }
    await board.update(
      taskId,
      (task, location) => {
        assertNotArchived(task, location);
        return withLesson(task, accepted);
      },
      { actor },
    );
    return (await reflections.promoted(id)) ?? { ...accepted, promotion: 'done' };
  }
}
