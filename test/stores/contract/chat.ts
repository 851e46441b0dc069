import { createAgentStatusStore } from '../../../stores/chat/agent-status-store';
import { createBroadcastStore } from '../../../stores/chat/broadcast-store';
import { createNotificationStore } from '../../../stores/chat/notification-store';
import { createSquadStore, type NewSquadMessage } from '../../../stores/chat/squad-store';
import type { Database } from '../../../stores/port/collection';
import { createSequencer, type Sequenced } from '../../../stores/port/sequencer';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

/** Messages on the board, by several processes at once, on every adapter. */
export function chatContract(harness: StoreHarness): void {
  describe('messages of the chat stores', () => {
    const stores = useTwoConnections(harness);
    const both = <T>(open: (database: Database) => Promise<T>): Promise<[T, T]> =>
      Promise.all([open(stores.one), open(stores.other)]);
    const aMessage = (fields: Partial<NewSquadMessage> = {}): NewSquadMessage => ({
      _id: uniqueName(),
      agent: uniqueName(),
      message: 'hello',
      tags: [],
      system: false,
      mentions: [],
      links: [],
      pinned: false,
      decision: false,
      reactions: [],
      timestamp: new Date().toISOString(),
      createdBy: 'test',
      ...fields,
    });

    it('is in one order without gaps, whichever writer appends it', async () => {
      const name = uniqueName();
      const indexes = [{ keys: { sequence: 1 as const }, unique: true }];
      const [one, other] = await both((database) => database.collection<Sequenced>({ name, indexes }));
      const [mine, theirs] = [createSequencer(one), createSequencer(other)];
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? mine : theirs).append((sequence) => ({ _id: `${name}-${n}`, sequence })),
        ),
      );
      const found = await one.find({ sequence: { $gte: 1 } }, { sort: { sequence: 1 }, limit: 100 });
      expect(found.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });

    it('loses no reaction, counts the same one once, and knows who has read what', async () => {
      const [one, other] = await both(createSquadStore);
      const { id, agent } = await one.add(aMessage({ mentions: [{ target: 'ada', kind: 'agent' }] }));
      await other.add(aMessage({ agent, threadId: id, replyToId: id }));
      await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? one : other).react(id, `agent-${n % 10}`, '+')));
      const [root] = (await one.thread(id, { limit: 10 })).items;
      expect(root?.reactions.map(({ actor }) => actor).sort()).toEqual(
        Array.from({ length: 10 }, (_, n) => `agent-${n}`),
      );
      expect(root?.replyCount).toBe(1);
      const before = await one.unread('ada');
      expect(before.mentionCount).toBeGreaterThanOrEqual(1);
      const newest = await one.get(before.latestUnreadMessageId ?? '');
      if (newest) {
        await other.markRead('ada', newest);
      }
      expect(await one.unread('ada')).toMatchObject({ unreadCount: 0, mentionCount: 0 });
    });

    it('notes every reader of a broadcast once', async () => {
      const [one, other] = await both(createBroadcastStore);
      const id = uniqueName();
      await one.add({ id, message: 'stop', priority: 'info', from: 'test', tags: [] });
      await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? one : other).markRead(id, `agent-${n % 6}`)));
      expect((await one.get(id))?.readBy).toHaveLength(6);
      const unread = async (agent: string) =>
        (await one.list({ unread: true, agent, limit: 200 })).items.some((word) => word.id === id);
      expect(await unread('agent-1')).toBe(false);
      expect(await unread('agent-9')).toBe(true);
    });

    it('notifies once for one key', async () => {
      const [one, other] = await both(createNotificationStore);
      const dedupeKey = uniqueName();
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 ? one : other).add({ type: 'info', content: 'x', fromAgent: 'test', dedupeKey }),
        ),
      );
      expect(new Set(made.map((each) => each.id)).size).toBe(1);
    });

    it('keeps one unbroken history of the status', async () => {
      const [one, other] = await both(createAgentStatusStore);
      const states = ['working', 'thinking', 'error'] as const;
      await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 ? one : other).report({ status: states[n % 3] ?? 'idle', subAgentCount: n, activeAgents: [] }),
        ),
      );
      const { items: changes } = await one.history({ limit: 100, offset: 0 });
      expect(changes.length).toBeGreaterThan(0);
      for (const [index, change] of changes.slice(0, -1).entries()) {
        expect(change.previousStatus).toBe(changes[index + 1]?.newStatus);
      }
      expect((await other.current())?.report.status).toBe(changes[0]?.newStatus);
    });
  });
}
