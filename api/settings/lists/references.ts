import type { ManagedItem } from '../../../contracts/settings/list';
import type { Board } from '../../../stores/board-files/types';

/** The field in which tasks name items of a list. */
export type ReferenceField = 'project' | 'sprint' | 'type';

/** How many active tasks, and tasks of the backlog, name an item by its id or its label. */
export function countReferences(
  board: Pick<Board, 'list'>,
  field: ReferenceField,
  { id, label }: Pick<ManagedItem, 'id' | 'label'>,
): number {
  const names = [...new Set([id, label])];
  const queries = field === 'type' ? [{ type: names }] : names.map((name) => ({ [field]: name }));
  const totals = queries.flatMap((query) =>
    (['active', 'backlog'] as const).map((location) => board.list({ ...query, limit: 1 }, location).total),
  );
  return totals.reduce((sum, total) => sum + total, 0);
}
