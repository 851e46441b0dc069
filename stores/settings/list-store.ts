import type { ManagedItem, ManagedListName } from '../../contracts/settings/list';
import { operationTime } from '../../platform/operations/operation';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { StaleRevisionError } from '../port/errors';

/** The types that there are from the beginning (the values tasks had before types could be configured). */
const defaultTypes = ['code', 'research', 'content', 'automation'];

const titled = (id: string): string => `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

/**
 * Lists that people manage: projects, sprints and task types. A list is one record, so that every change of it, also of
 * its order, is one step. Opening makes the default task types, once for all processes and for ever.
 */
export async function createManagedListStore(db: Database, now: () => Date = operationTime) {
  const lists = await createConfiguredRecords<{ items: ManagedItem[] }>(db, 'managed-lists', now);
  await seed();

  async function seed(): Promise<void> {
    const at = now().toISOString();
    const items = defaultTypes.map((id, order) => {
      return { id, label: titled(id), order, isDefault: true, revision: 1, created: at, updated: at };
    });
    try {
      await lists.create('task-types', { items });
    } catch (error) {
      // Another process was first, or an earlier start.
      if (!(error instanceof StaleRevisionError)) {
        throw error;
      }
    }
  }

  const items = async (name: ManagedListName): Promise<ManagedItem[]> => (await lists.get(name))?.items ?? [];

  return {
    /** In their order. */
    items,

    /**
     * Replaces the list by what `change` makes of the newest; it may run more than once, and must not have side effects.
     * Positions are renumbered.
     *
     * @throws StaleRevisionError while others keep changing the list; what `change` throws
     */
    async change(name: ManagedListName, change: (items: ManagedItem[]) => ManagedItem[]): Promise<ManagedItem[]> {
      const numbered = (items: ManagedItem[]) => items.map((item, order) => ({ ...item, order }));
      const changed = await lists.change(name, (current) => ({ items: numbered(change(current?.items ?? [])) }));
      return changed.items;
    },
  };
}
