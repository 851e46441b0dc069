import type { Filter } from 'mongodb';
import type { Collection } from '../../port/collection';
import type { QueueRecord } from './queue-store';

/** The first entries of a group, in the order in which they were enqueued. */
interface Group {
  entries: QueueRecord[];
  isLast: boolean;
}

/** How many entries are read at once while the groups are iterated. */
const stride = 8;
/** The order in which entries were enqueued. */
export const inOrder = { enqueuedAt: 1, _id: 1 } as const;

type Entries = Pick<Collection<QueueRecord>, 'find'>;

/**
 * The first entries of each group of one field, in its order, by one short read for each group or fewer. Needs an index of what
 * the filter fixes, the field, `enqueuedAt` and `_id`.
 */
export async function groupsOf<F extends 'line' | 'priority'>(
  entries: Entries,
  filter: Filter<QueueRecord>,
  field: F,
): Promise<(Group & { key: QueueRecord[F] })[]> {
  const groups: (Group & { key: QueueRecord[F] })[] = [];
  for (let last: QueueRecord[F] | undefined; ;) {
    const rest = last === undefined ? filter : { ...filter, [field]: { $gt: last } };
    const records = await entries.find(rest, { sort: { [field]: 1, ...inOrder }, limit: stride });
    for (const entry of records) {
      const group = groups.at(-1);
      if (group?.key === entry[field]) {
        group.entries.push(entry);
      } else {
        groups.push({ key: entry[field], entries: [entry], isLast: true });
      }
    }
    const final = groups.at(-1);
    if (records.length < stride || !final) {
      return groups;
    }
    final.isLast = false;
    last = final.key;
  }
}

/** The same of two fields, the second within the first. */
export async function groupsIn(
  entries: Entries,
  filter: Filter<QueueRecord>,
  [outer, inner]: ['workspaceId', 'priority'],
): Promise<(Group & { keys: [string, number] })[]> {
  const groups: (Group & { keys: [string, number] })[] = [];
  for (let after = ''; ;) {
    const [first] = await entries.find(
      { ...filter, [outer]: { $gt: after } },
      { sort: { [outer]: 1, [inner]: 1, ...inOrder }, limit: 1 },
    );
    if (!first) {
      return groups;
    }
    after = first[outer];
    for (const { key, ...group } of await groupsOf(entries, { ...filter, [outer]: after }, inner)) {
      groups.push({ ...group, keys: [after, key] });
    }
  }
}
