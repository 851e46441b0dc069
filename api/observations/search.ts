import type { FoundObservation, ObservationQuery } from '../../contracts/observation';
import type { Board } from '../../stores/board-files/types';

/** The observations on active tasks that a query asks for, the newest first, and how many match it in all. */
export function searchObservations(
  board: Pick<Board, 'list'>,
  { q, type, agent, limit, offset }: ObservationQuery,
): { results: FoundObservation[]; total: number } {
  const wanted = q?.toLowerCase();
  const found = board.list({}).tasks.flatMap(({ id: taskId, title: taskTitle, updatedAt, observations = [] }) =>
    observations
      .filter(
        (one) =>
          (type === undefined || one.type === type) &&
          (agent === undefined || one.agent === agent) &&
          (wanted === undefined || one.content.toLowerCase().includes(wanted)),
      )
      .map((observation) => ({
        result: { observation, taskId, taskTitle },
        // One that a person wrote without a time is as old as its task is unchanged.
        at: Date.parse(observation.timestamp ?? updatedAt),
      })),
  );
  found.sort((a, b) => b.at - a.at);
  return { results: found.slice(offset, offset + limit).map(({ result }) => result), total: found.length };
}
