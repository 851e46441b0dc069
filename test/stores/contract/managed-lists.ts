import type { ManagedItem } from '../../../contracts/settings/list';
import { createManagedListStore } from '../../../stores/settings/list-store';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

/** The lists that people manage, on every adapter. */
export function managedListsContract(harness: StoreHarness): void {
  describe('managed lists', () => {
    const stores = useTwoConnections(harness);
    const anItem = (id: string): ManagedItem => {
      const at = new Date().toISOString();
      return { id, label: id, order: 0, revision: 1, created: at, updated: at };
    };

    it('have the default task types once, however many processes start', async () => {
      const databases = [stores.one, stores.other, stores.one, stores.other];
      const opened = await Promise.all(databases.map((database) => createManagedListStore(database)));
      for (const lists of opened) {
        const defaults = (await lists.items('task-types')).filter(({ isDefault }) => isDefault);
        expect(defaults.map(({ id }) => id)).toEqual(['code', 'research', 'content', 'automation']);
      }
    });

    it('lose no change of several processes, and keep their places numbered', async () => {
      const [one, other] = await Promise.all([
        createManagedListStore(stores.one),
        createManagedListStore(stores.other),
      ]);
      const ids = Array.from({ length: 10 }, () => uniqueName());
      await Promise.all(
        ids.map((id, index) => (index % 2 === 0 ? one : other).change('projects', (items) => [...items, anItem(id)])),
      );
      const items = await one.items('projects');
      expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      expect(items.map(({ order }) => order)).toEqual(items.map((_item, index) => index));
    });

    it('do not change when the change fails', async () => {
      const lists = await createManagedListStore(stores.one);
      const before = await lists.items('sprints');
      const failing = lists.change('sprints', () => {
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await lists.items('sprints')).toEqual(before);
    });
  });
}
