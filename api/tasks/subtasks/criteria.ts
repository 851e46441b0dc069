import type { Subtask } from '../../../contracts/tasks/subtask';
import { notFound } from '../../../platform/errors/app-error';

type Criteria = Pick<Subtask, 'acceptanceCriteria' | 'criteriaChecked'>;

/** New criteria for a subtask; those that stay, wherever they stand now, stay checked or not as they were. */
export function withCriteria(before: Criteria, acceptanceCriteria: string[]): Required<Criteria> {
  const left = (before.acceptanceCriteria ?? []).map((text, index) => ({
    text,
    checked: before.criteriaChecked?.[index] ?? false,
  }));
  const criteriaChecked = acceptanceCriteria.map((text) => {
    const index = left.findIndex((criterion) => criterion.text === text);
    return index < 0 ? false : (left.splice(index, 1)[0]?.checked ?? false);
  });
  return { acceptanceCriteria, criteriaChecked };
}

/**
 * The subtask with one criterion toggled. A list of states that a person left short or out is filled up.
 *
 * @throws AppError 404 when there is no such criterion
 */
export function withCriterionToggled<T extends Criteria>(subtask: T, index: number): T {
  const { acceptanceCriteria = [], criteriaChecked = [] } = subtask;
  if (index >= acceptanceCriteria.length) {
    throw notFound('criterion', String(index));
  }
  return {
    ...subtask,
    criteriaChecked: acceptanceCriteria.map((_text, place) => (criteriaChecked[place] ?? false) !== (place === index)),
  };
}
