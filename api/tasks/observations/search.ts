import type { FoundObservation, ObservationQuery } from '../../../contracts/tasks/observation';
import type { PagedBody } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { Board } from '../../../stores/board-files/types';
import { listAllTasks } from '../tasks/list-all-tasks';

/** The observations on active tasks that match a query, the newest first, and how many match it in all. */
export function searchObservations(
  board: Pick<Board, 'list'>,
  { q, type, agent, ...part }: ObservationQuery,
): PagedBody<{ results: FoundObservation[]; total: number }> {
  const phrase = q?.toLowerCase();
  const results = listAllTasks(board, ['active']).flatMap(
    ({ task: { id: taskId, title: taskTitle, updatedAt, observations = [] } }) =>
      observations
        .filter(
          (one) =>
            (type === undefined || one.type === type) &&
            (agent === undefined || one.agent === agent) &&
            (phrase === undefined || one.content.toLowerCase().includes(phrase)),
        )
        .map((observation) => ({
          result: { observation, taskId, taskTitle },
          // One that a person wrote without a time is as old as its task is unchanged.
          at: Date.parse(observation.timestamp ?? updatedAt),
        })),
  );
  const positionOf = ({ at, result }: (typeof results)[number]) => ({
    key: at,
    id: `${result.taskId}/${result.observation.id}`,
  });
  const page = slicePage(results, part, { positionOf, direction: -1 });
  return page.answer({ results: page.items.map(({ result }) => result), total: results.length });
}
